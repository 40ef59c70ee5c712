//! Which addresses a host name may lead to: public ones only.
//!
//! A name can be made to resolve to anything, so an address that is not public is reached only when it is itself
//! listed (DESIGN §7 "Grants").

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not public; none for one that is.
///
/// A form of IPv6 that carries an IPv4 address (mapped, compatible, NAT64, 6to4) is judged by the address it carries.
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => v4_not_public(v4),
        IpAddr::V6(v6) => match carried_v4(v6) {
            Some(v4) => v4_not_public(v4),
            None => v6_not_public(v6),
        },
    }
}

fn v4_not_public(address: Ipv4Addr) -> Option<&'static str> {
    Some(match address.octets() {
        [127, ..] => "a loopback address",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "a private address",
        [169, 254, 169, 254] | [100, 100, 100, 200] => "a cloud metadata address",
        [100, 64..=127, ..] => "an address shared by a provider (100.64.0.0/10)",
        [169, 254, ..] => "a link-local address",
        [0, 0, 0, 0] => "the unspecified address",
        [224..=239, ..] => "a multicast address",
        [0, ..] | [192, 0, 0, _] | [192, 0, 2, _] | [198, 18..=19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            "a reserved address"
        }
        [240..=255, ..] => "a reserved address",
        _ => return None,
    })
}

fn v6_not_public(address: Ipv6Addr) -> Option<&'static str> {
    /// `fd00:ec2::254`, where one cloud serves its metadata.
    const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "the unspecified address",
        [0, 0, 0, 0, 0, 0, 0, 1] => "a loopback address",
        _ if address == METADATA => "a cloud metadata address",
        [0xfc00..=0xfdff, ..] => "a private address",
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xfec0..=0xfeff, ..] => "a private address",
        [0xff00..=0xffff, ..] => "a multicast address",
        // The block for documentation, and what special purposes were given: Teredo, ORCHID, discard, local NAT64.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] | [0x2001, 0..=0x1ff, ..] => "a reserved address",
        [0x100, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..] | [0x5f00, ..] => "a reserved address",
        _ => return None,
    })
}

/// The IPv4 address within an IPv6 one.
fn carried_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        // The unspecified and the loopback address of IPv6 itself look like compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(v4(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_told_apart() {
        let table = "
            127.0.0.1           a loopback address
            127.255.255.254     a loopback address
            10.1.2.3            a private address
            172.16.0.1          a private address
            172.31.255.255      a private address
            172.32.0.1          public
            172.15.0.1          public
            192.168.1.1         a private address
            192.169.0.1         public
            100.64.0.1          an address shared by a provider (100.64.0.0/10)
            100.127.0.1         an address shared by a provider (100.64.0.0/10)
            100.128.0.1         public
            100.63.0.1          public
            100.100.100.200     a cloud metadata address
            169.254.169.254     a cloud metadata address
            169.254.1.1         a link-local address
            0.0.0.0             the unspecified address
            0.1.2.3             a reserved address
            192.0.2.1           a reserved address
            198.18.0.1          a reserved address
            198.51.100.7        a reserved address
            203.0.113.7         a reserved address
            224.0.0.1           a multicast address
            239.255.255.255     a multicast address
            255.255.255.255     a reserved address
            8.8.8.8             public
            1.1.1.1             public
            ::                  the unspecified address
            ::1                 a loopback address
            ::ffff:127.0.0.1    a loopback address
            ::ffff:10.0.0.1     a private address
            ::ffff:169.254.169.254 a cloud metadata address
            ::ffff:8.8.8.8      public
            ::127.0.0.1         a loopback address
            ::ffff:0:10.0.0.1   a private address
            64:ff9b::10.0.0.1   a private address
            64:ff9b::8.8.8.8    public
            64:ff9b:1::1        a reserved address
            2002:7f00:1::       a loopback address
            2002:808:808::      public
            2001:0:7f00:1::     a reserved address
            2001:db8::1         a reserved address
            100::1              a reserved address
            fd00:ec2::254       a cloud metadata address
            fd00::1             a private address
            fc00::1             a private address
            fe80::1             a link-local address
            fec0::1             a private address
            ff02::1             a multicast address
            2606:4700::1111     public
        ";
        for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (address, expected) = row.split_once(' ').expect("two columns");
            let found = not_public(address.parse().expect(address)).unwrap_or("public");
            assert_eq!(found, expected.trim(), "{address}");
        }
    }
}
