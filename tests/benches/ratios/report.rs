//! The rows that were measured: a table for people, and a line of JSON each for `cargo xtask bench`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    Outcome,
    measure::{Effort, Measured, Pace, Ratio},
};

/// Marks a machine-readable line on stdout.
const ROW: &str = "row: ";

/// How far a ratio should reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reach {
    AtMost(f64),
    AtLeast(f64),
    /// It is only told.
    None,
}

/// Everything that was measured so far.
pub(crate) struct Report {
    pace: Pace,
    rows: Vec<Row>,
}

struct Row {
    what: String,
    found: String,
    ratio: Option<Ratio>,
    reach: String,
    /// Nothing where there is nothing to meet, or where times were not taken seriously.
    met: Option<bool>,
}

impl Report {
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace, rows: Vec::new() }
    }

    /// Whether figures are wanted, not only that everything works.
    pub(crate) fn is_serious(&self) -> bool {
        self.pace == Pace::Full
    }

    /// As much of this as the run's pace allows.
    pub(crate) fn effort(&self, rounds: usize, pairs: usize) -> Effort {
        Effort { rounds, pairs }.of(self.pace)
    }

    /// How many of these to do.
    pub(crate) fn count(&self, full: usize, smoke: usize) -> usize {
        match self.pace {
            Pace::Full => full,
            Pace::Smoke => smoke,
        }
    }

    /// A ratio, and for information the two times behind it under these names.
    pub(crate) fn ratio(&mut self, what: &str, measured: &Measured, reach: Reach, names: [&str; 2]) {
        let ratio = measured.ratio;
        let (reach, met) = match reach {
            Reach::AtMost(limit) => (format!("≤ {limit}×"), Some(ratio.median <= limit)),
            Reach::AtLeast(limit) => (format!("≥ {limit}×"), Some(ratio.median >= limit)),
            Reach::None => (String::new(), None),
        };
        let met = met.filter(|_| self.is_serious());
        let found = format!("{:.2}× ({:.2}–{:.2})", ratio.median, ratio.min, ratio.max);
        self.rows.push(Row { what: what.to_owned(), found, ratio: Some(ratio), reach, met });
        let [first, second] = names;
        self.information(first, shown(measured.first));
        self.information(second, shown(measured.second));
    }

    /// So many a second, of which there should be at least `reach`.
    pub(crate) fn rate(&mut self, what: &str, rates: &mut [f64], reach: f64) {
        rates.sort_by(f64::total_cmp);
        let [min, median, max] = [0, rates.len() / 2, rates.len() - 1].map(|place| rates[place]);
        let millions = [median, min, max].map(|rate| format!("{:.2}", rate / 1e6));
        let found = format!("{} million ({}–{})", millions[0], millions[1], millions[2]);
        let met = self.is_serious().then_some(median >= reach);
        let reach = format!("≥ {:.1} million", reach / 1e6);
        self.rows.push(Row { what: what.to_owned(), found, ratio: None, reach, met });
    }

    /// A share that depends on the machine's allocator as well, and is judged only where figures are wanted.
    pub(crate) fn share(&mut self, what: &str, share: f64, limit: f64) {
        let met = self.is_serious().then_some(share <= limit);
        let (found, reach) = (format!("{share:.2}×"), format!("≤ {limit}×"));
        self.rows.push(Row { what: what.to_owned(), found, ratio: None, reach, met });
    }

    /// Something that holds or does not, whatever the machine.
    pub(crate) fn fact(&mut self, what: &str, found: String, reach: &str, met: bool) {
        let row = Row { what: what.to_owned(), found, ratio: None, reach: reach.to_owned(), met: Some(met) };
        self.rows.push(row);
    }

    /// A figure of this machine.
    pub(crate) fn information(&mut self, what: &str, found: String) {
        self.rows.push(Row { what: what.to_owned(), found, ratio: None, reach: String::new(), met: None });
    }

    /// Prints everything.
    ///
    /// # Errors
    /// In a test, when something does not hold that must hold on every machine.
    pub(crate) fn finish(&self) -> Outcome {
        self.print();
        match self.rows.iter().find(|row| row.met == Some(false)) {
            Some(row) if self.pace == Pace::Smoke => Err(format!("{}: {}", row.what, row.found).into()),
            Some(_) | None => Ok(()),
        }
    }

    fn print(&self) {
        if self.pace == Pace::Smoke {
            self.rows.iter().for_each(|row| println!("works: {}", row.what));
            return;
        }
        let width = |text: fn(&Row) -> &str| self.rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
        let (what, found, reach) = (width(|row| &row.what), width(|row| &row.found), width(|row| &row.reach));
        for row in &self.rows {
            let met = match row.met {
                Some(true) => "met",
                Some(false) => "MISSED",
                None => "",
            };
            println!("{:what$}  {:>found$}  {:>reach$}  {met}", row.what, row.found, row.reach);
        }
        for row in &self.rows {
            println!("{ROW}{}", row.to_json());
        }
    }
}

impl Row {
    fn to_json(&self) -> Value {
        let ratio = self.ratio.map(|ratio| json!({"median": ratio.median, "min": ratio.min, "max": ratio.max}));
        json!({"what": self.what, "found": self.found, "ratio": ratio, "reach": self.reach, "met": self.met})
    }
}

/// With three digits, in the unit that suits it.
pub(crate) fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    let (value, unit) = match micros {
        0.0..1e3 => (micros, "µs"),
        1e3..1e6 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    let decimals = match value {
        0.0..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}
