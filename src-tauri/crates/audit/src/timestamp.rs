//! Requests to and answers of a time stamp authority (RFC 3161) about a checkpoint. The content of
//! an answer is checked, but not its signature, which anyone who trusts the authority can check,
//! for example with `openssl ts -verify`.

use sha2::{Digest as _, Sha256};

use crate::entropy::Entropy;
use crate::tree::Hash;

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const SEQUENCE: u8 = 0x30;
/// The DER of `SEQUENCE { OID 2.16.840.1.101.3.4.2.1, NULL }`, which means SHA-256.
const SHA256: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00];

/// A request for a time stamp.
#[derive(Clone, Debug)]
pub struct TimeStampRequest {
    digest: Hash,
    nonce: [u8; 8],
}

impl TimeStampRequest {
    /// Makes the request for a checkpoint.
    pub fn new(checkpoint: &str, entropy: &dyn Entropy) -> Result<Self, String> {
        let mut nonce = [0; 8];
        entropy.fill(&mut nonce)?;
        // The nonce must be positive and have all eight bytes.
        nonce[0] = nonce[0] & 0x3f | 0x40;
        Ok(Self { digest: Sha256::digest(checkpoint).into(), nonce })
    }

    /// Returns the request in DER. The request also asks for the authority's certificate.
    pub fn to_der(&self) -> Vec<u8> {
        let body = [
            vec![INTEGER, 1, 1],
            self.imprint(),
            element(INTEGER, &self.nonce),
            vec![0x01, 1, 0xff],
        ];
        element(SEQUENCE, &body.concat())
    }

    fn imprint(&self) -> Vec<u8> {
        element(SEQUENCE, &[&SHA256[..], &element(OCTETS, &self.digest)].concat())
    }

    /// Whether the answer grants a time stamp for this request.
    pub fn is_answered_by(&self, answer: &[u8]) -> bool {
        self.read_answer(answer) == Some(true)
    }

    fn read_answer(&self, answer: &[u8]) -> Option<bool> {
        let (outer, rest) = take(answer, SEQUENCE)?;
        let (status, token) = take(outer, SEQUENCE)?;
        let (status, _) = take(status, INTEGER)?;
        let (content, end) = take(token, SEQUENCE)?;
        // The nesting is ContentInfo, SignedData, EncapsulatedContentInfo, TSTInfo.
        let (_, signed) = take(content, 0x06)?;
        let (signed, _) = take(take(signed, 0xa0)?.0, SEQUENCE)?;
        let (_, signed) = take(signed, INTEGER)?;
        let (_, signed) = take(signed, 0x31)?;
        let (capsule, _) = take(signed, SEQUENCE)?;
        let (_, capsule) = take(capsule, 0x06)?;
        let (info, _) = take(take(capsule, 0xa0)?.0, OCTETS)?;
        let (info, _) = take(info, SEQUENCE)?;
        let (_, info) = take(info, INTEGER)?;
        let (_, info) = take(info, 0x06)?;
        let (imprint, mut info) = take(info, SEQUENCE)?;
        let (_, digest) = take(imprint, SEQUENCE)?;
        let is_ours = take(digest, OCTETS)?.0 == self.digest;
        let (_, after) = take(info, INTEGER)?;
        info = after;
        let mut has_nonce = false;
        while let Some((tag, value, rest)) = split(info) {
            has_nonce |= tag == INTEGER && value == self.nonce;
            info = rest;
        }
        let granted = matches!(status, [0 | 1]);
        Some(granted && is_ours && has_nonce && rest.is_empty() && end.is_empty())
    }
}

fn element(tag: u8, value: &[u8]) -> Vec<u8> {
    // All values here are short, so one byte is enough for the length.
    let mut bytes = vec![tag, u8::try_from(value.len()).unwrap_or(u8::MAX)];
    bytes.extend_from_slice(value);
    bytes
}

/// Splits off the first element. Returns its tag, its value, and the remaining bytes.
fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, bytes) = bytes.split_first()?;
    let (first, mut bytes) = bytes.split_first()?;
    let mut length = usize::from(*first);
    if *first & 0x80 != 0 {
        let (digits, rest) = bytes.split_at_checked(usize::from(*first & 0x7f))?;
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
        bytes = rest;
    }
    let (value, rest) = bytes.split_at_checked(length)?;
    Some((*tag, value, rest))
}

fn take(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    split(bytes).filter(|(found, ..)| *found == tag).map(|(_, value, rest)| (value, rest))
}
