//! Rows of typed cells as Arrow batches, and a reader that gets them from another thread.

use std::sync::{
    Arc,
    mpsc::{Receiver, SyncSender},
};

use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchReader,
    builder::{
        BooleanBuilder, Date32Builder, Decimal128Builder, Int64Builder, StringBuilder,
        TimestampMicrosecondBuilder,
    },
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use chrono::NaiveDate;
use contract::sources::{ColumnKind, FoundColumn};
use tabular::table::Cell;

use crate::DataError;

/// The rows of a batch.
const ROWS: usize = 16 * 1024;
/// The most bytes of text in a batch, so that long texts make short batches.
const TEXT_BYTES: usize = 8 << 20;
/// The decimal digits that a 64-bit number always has room for.
const SHORT: u8 = 18;
const LONG: u8 = 38;

/// Returns the schema of the rows of a file. `greatest` has the largest unscaled value of each
/// decimal column.
pub fn schema(columns: &[FoundColumn], greatest: &[u128]) -> SchemaRef {
    let fields = columns.iter().enumerate().map(|(at, column)| {
        let kind = match column.kind {
            ColumnKind::Text => DataType::Utf8,
            ColumnKind::Whole => DataType::Int64,
            ColumnKind::Decimal => {
                let is_short =
                    greatest.get(at).is_some_and(|most| *most < 10_u128.pow(SHORT.into()));
                let digits = if is_short && column.scale <= SHORT { SHORT } else { LONG };
                DataType::Decimal128(digits, i8::try_from(column.scale).unwrap_or(0))
            }
            ColumnKind::Day => DataType::Date32,
            ColumnKind::Moment => DataType::Timestamp(TimeUnit::Microsecond, None),
            ColumnKind::Flag => DataType::Boolean,
        };
        Field::new(&column.name, kind, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

enum Builder {
    Text(StringBuilder),
    Whole(Int64Builder),
    Decimal(Decimal128Builder),
    Day(Date32Builder),
    Moment(TimestampMicrosecondBuilder),
    Flag(BooleanBuilder),
}

impl Builder {
    fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Int64 => Self::Whole(Int64Builder::with_capacity(ROWS)),
            DataType::Decimal128(_, _) => {
                Self::Decimal(Decimal128Builder::with_capacity(ROWS).with_data_type(kind.clone()))
            }
            DataType::Date32 => Self::Day(Date32Builder::with_capacity(ROWS)),
            DataType::Timestamp(_, _) => {
                Self::Moment(TimestampMicrosecondBuilder::with_capacity(ROWS))
            }
            DataType::Boolean => Self::Flag(BooleanBuilder::with_capacity(ROWS)),
            _ => Self::Text(StringBuilder::with_capacity(ROWS, ROWS * 16)),
        }
    }

    /// Adds a cell. Returns whether its type fits the column.
    fn add(&mut self, cell: &Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Self::Text(builder), Cell::Empty) => builder.append_null(),
            (Self::Whole(builder), Cell::Whole(value)) => builder.append_value(*value),
            (Self::Whole(builder), Cell::Empty) => builder.append_null(),
            (Self::Decimal(builder), Cell::Decimal(value)) => builder.append_value(*value),
            (Self::Decimal(builder), Cell::Empty) => builder.append_null(),
            (Self::Day(builder), Cell::Day(day)) => builder.append_value(days_of(*day)),
            (Self::Day(builder), Cell::Empty) => builder.append_null(),
            (Self::Moment(builder), Cell::Moment(moment)) => {
                builder.append_value(moment.and_utc().timestamp_micros());
            }
            (Self::Moment(builder), Cell::Empty) => builder.append_null(),
            (Self::Flag(builder), Cell::Flag(value)) => builder.append_value(*value),
            (Self::Flag(builder), Cell::Empty) => builder.append_null(),
            _ => return false,
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Whole(builder) => Arc::new(builder.finish()),
            Self::Decimal(builder) => Arc::new(builder.finish()),
            Self::Day(builder) => Arc::new(builder.finish()),
            Self::Moment(builder) => Arc::new(builder.finish()),
            Self::Flag(builder) => Arc::new(builder.finish()),
        }
    }
}

fn days_of(day: NaiveDate) -> i32 {
    day.to_epoch_days()
}

/// Collects rows and sends them as batches.
pub struct Batcher {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    text_bytes: usize,
    /// The number of rows that were sent.
    pub sent: u64,
    to: SyncSender<RecordBatch>,
}

impl Batcher {
    /// Creates a batcher.
    pub fn new(schema: SchemaRef, to: SyncSender<RecordBatch>) -> Self {
        let builders =
            schema.fields().iter().map(|field| Builder::new(field.data_type())).collect();
        Self { schema, builders, rows: 0, text_bytes: 0, sent: 0, to }
    }

    /// Adds a row.
    pub fn add(&mut self, cells: &[Cell<'_>]) -> Result<(), DataError> {
        if cells.len() != self.builders.len() {
            return Err(DataError::Engine(format!(
                "a row has {} cells for {} columns",
                cells.len(),
                self.builders.len()
            )));
        }
        for (at, (builder, cell)) in self.builders.iter_mut().zip(cells).enumerate() {
            if !builder.add(cell) {
                return Err(DataError::Engine(format!(
                    "a cell of column {} has another type",
                    at + 1
                )));
            }
            if let Cell::Text(text) = cell {
                self.text_bytes += text.len();
            }
        }
        self.rows += 1;
        if self.rows >= ROWS || self.text_bytes >= TEXT_BYTES { self.send() } else { Ok(()) }
    }

    /// Sends the rows that are left.
    pub fn finish(mut self) -> Result<u64, DataError> {
        if self.rows > 0 {
            self.send()?;
        }
        Ok(self.sent)
    }

    fn send(&mut self) -> Result<(), DataError> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(|error| DataError::Engine(error.to_string()))?;
        self.sent += self.rows as u64;
        (self.rows, self.text_bytes) = (0, 0);
        self.to
            .send(batch)
            .map_err(|_| DataError::Engine("the table takes no more rows".to_owned()))
    }
}

/// Reads batches that another thread sends. The end of the sender is the end of the rows.
pub struct Received {
    schema: SchemaRef,
    from: Receiver<RecordBatch>,
}

impl Received {
    /// Creates a reader.
    pub fn new(schema: SchemaRef, from: Receiver<RecordBatch>) -> Self {
        Self { schema, from }
    }
}

impl Iterator for Received {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.from.recv().ok().map(Ok)
    }
}

impl RecordBatchReader for Received {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
