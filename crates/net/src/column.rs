//! Columns and tables of a result.

pub mod narrow;
pub mod shared;

use crate::Narrow;

/// Column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 8-bit numbers, such as codes and flags.
    U8(Vec<u8>),
    /// 16-bit numbers.
    U16(Vec<u16>),
    /// 32-bit numbers.
    U32(Vec<u32>),
    /// 64-bit numbers, such as counts and times in picoseconds.
    U64(Vec<u64>),
    /// Signed numbers.
    I64(Vec<i64>),
    /// Exact sums; they become doubles when they are exported.
    U128(Vec<u128>),
    /// Fractional numbers, such as congestion windows.
    F64(Vec<f64>),
}

impl From<Narrow> for Column {
    fn from(narrow: Narrow) -> Column {
        match narrow {
            Narrow::U8(values) => Column::U8(values),
            Narrow::U16(values) => Column::U16(values),
            Narrow::U32(values) => Column::U32(values),
            Narrow::U64(values) => Column::U64(values),
        }
    }
}

/// Named columns of one table.
pub type Table = Vec<(&'static str, Column)>;

/// One table of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Columns of equal or different lengths, by name.
    Columns(Vec<(String, Column)>),
    /// Single whole numbers, by name. They are exported exactly.
    Numbers(Vec<(&'static str, u128)>),
}

/// Tables of a result, by name.
pub type Outputs = Vec<(&'static str, Output)>;

impl From<Table> for Output {
    fn from(table: Table) -> Output {
        let named = table.into_iter();
        Output::Columns(named.map(|(name, column)| (name.into(), column)).collect())
    }
}

impl From<Vec<(String, Column)>> for Output {
    fn from(columns: Vec<(String, Column)>) -> Output {
        Output::Columns(columns)
    }
}

impl From<Vec<(&'static str, u64)>> for Output {
    fn from(numbers: Vec<(&'static str, u64)>) -> Output {
        let named = numbers.into_iter();
        Output::Numbers(named.map(|(name, number)| (name, number.into())).collect())
    }
}
