//! The matrix of token vectors in a safetensors file. Owns the bytes in their stored form and
//! converts single rows to numbers. Knows no tokens.

use safetensors::{Dtype, SafeTensors};

use crate::problem::FolderProblem;

/// The names that programs give to the matrix of token vectors. If no matrix has one of these
/// names, a single matrix is used.
const NAMES: [&str; 4] = ["embedding.weight", "embeddings", "embedding", "embeddings.weight"];
/// The maximum number of values in a vector.
const MOST_VALUES: usize = 4_096;

/// A matrix with one row for each token.
pub(crate) struct Weights {
    bytes: Vec<u8>,
    /// The position of the first row in the bytes.
    start: usize,
    kind: Dtype,
    pub(crate) rows: usize,
    pub(crate) dimension: usize,
}

impl Weights {
    /// Finds the matrix in the bytes of a file.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, FolderProblem> {
        let (start, kind, rows, dimension) = {
            let file = SafeTensors::deserialize(&bytes)
                .map_err(|error| FolderProblem::DamagedWeights(error.to_string()))?;
            let matrices: Vec<_> =
                file.tensors().into_iter().filter(|(_, view)| view.shape().len() == 2).collect();
            let named = matrices.iter().find(|(name, _)| NAMES.contains(&name.as_str()));
            let (_, matrix) = match (named, matrices.as_slice()) {
                (Some(found), _) => found,
                (None, [one]) => one,
                (None, _) => return Err(FolderProblem::NoMatrix(matrices.len())),
            };
            let &[rows, dimension] = matrix.shape() else {
                return Err(FolderProblem::NoMatrix(0));
            };
            if rows == 0 || dimension == 0 || dimension > MOST_VALUES {
                return Err(FolderProblem::WrongShape { rows, dimension });
            }
            if value_bytes(matrix.dtype()).is_none() {
                return Err(FolderProblem::UnknownNumbers(format!("{:?}", matrix.dtype())));
            }
            // The tensor's data is a slice of the file's bytes, so the difference of the pointers
            // is the position.
            let start = matrix.data().as_ptr() as usize - bytes.as_ptr() as usize;
            (start, matrix.dtype(), rows, dimension)
        };
        Ok(Self { bytes, start, kind, rows, dimension })
    }

    /// Adds the vector of a token to a sum. Does nothing for a token without a row.
    pub(crate) fn add_row(&self, token: usize, sum: &mut [f32]) {
        let size = self.dimension * value_bytes(self.kind).unwrap_or_default();
        let from = self.start + token * size;
        let Some(row) = self.bytes.get(from..from + size).filter(|_| token < self.rows) else {
            return;
        };
        match self.kind {
            Dtype::F32 => add(sum, row.as_chunks().0, |value| f32::from_le_bytes(*value)),
            Dtype::F16 => add(sum, row.as_chunks().0, |value| half(u16::from_le_bytes(*value))),
            Dtype::BF16 => add(sum, row.as_chunks().0, |value| {
                f32::from_bits(u32::from(u16::from_le_bytes(*value)) << 16)
            }),
            // The scale of integers does not matter, because only directions are compared.
            _ => add(sum, row, |value| f32::from(value.cast_signed())),
        }
    }
}

fn add<T>(sum: &mut [f32], row: &[T], number: impl Fn(&T) -> f32) {
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += number(value));
}

/// Returns the number of bytes of a value, or None for an unsupported type.
fn value_bytes(kind: Dtype) -> Option<usize> {
    match kind {
        Dtype::F32 => Some(4),
        Dtype::F16 | Dtype::BF16 => Some(2),
        Dtype::I8 => Some(1),
        _ => None,
    }
}

/// Returns the value of a half-precision number.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) =
        (u32::from(bits >> 15) << 31, u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    match (exponent, fraction) {
        // Too small for the usual form: a multiple of the smallest number.
        (0, _) => f32::from_bits(sign | (fraction as f32 * 2.0_f32.powi(-24)).to_bits()),
        (0x1f, _) => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision_numbers_are_decoded() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
        ] {
            assert_eq!(half(bits), value, "{bits:#06x}");
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
