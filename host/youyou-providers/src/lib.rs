//! Model providers: implementations of the port in `youyou-api`.
