//! A record as a COSE_Sign1 statement (RFC 9052) that contains a receipt of its inclusion in the
//! log (RFC 9942, verifiable data structure RFC9162_SHA256). The leaf entry that the receipt proves
//! is the statement's payload.

use coset::cbor::Value;
use coset::{
    CborSerializable as _, CoseSign1, CoseSign1Builder, Header, HeaderBuilder, Label,
    TaggedCborSerializable as _, iana,
};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::tree::{self, Hash};

/// The header parameters: CWT claims, receipts, verifiable data structure, verifiable data proofs.
const CWT_CLAIMS: i64 = 15;
const RECEIPTS: i64 = 394;
const STRUCTURE: i64 = 395;
const PROOFS: i64 = 396;
/// The data structure of RFC 9162 with SHA-256, and the key of its inclusion proofs.
const RFC9162_SHA256: i64 = 1;
const INCLUSION: i64 = -1;
/// The CWT claims: issuer and subject.
const ISSUER: i64 = 1;
const SUBJECT: i64 = 2;
/// The type of the payload.
const JSON: &str = "application/json";

/// The position of a record in a tree, and its inclusion proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inclusion {
    pub(crate) size: u64,
    pub(crate) index: u64,
    pub(crate) path: Vec<Hash>,
}

/// Why a statement is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StatementFault {
    #[error("it is not written as a statement of this log")]
    Malformed,
    #[error("the statement's signature does not match")]
    Statement,
    #[error("the receipt's signature does not match")]
    Receipt,
    #[error("the receipt does not prove the record")]
    Proof,
}

/// Makes the statement of a record.
pub(crate) fn sign(
    origin: &str,
    record: &[u8],
    inclusion: &Inclusion,
    root: &Hash,
    key: &SigningKey,
) -> Option<Vec<u8>> {
    let public = key.verifying_key();
    let receipt = draft_receipt(origin, inclusion, &public)
        .create_detached_signature(root, &[], |bytes| key.sign(bytes).to_vec())
        .build()
        .to_tagged_vec()
        .ok()?;
    draft_statement(origin, record, inclusion, receipt, &public)
        .create_signature(&[], |bytes| key.sign(bytes).to_vec())
        .build()
        .to_tagged_vec()
        .ok()
}

/// Checks a statement: both signatures, the proof, and that every byte is the same as `sign`
/// writes. Returns the record.
pub(crate) fn check(
    bytes: &[u8],
    origin: &str,
    index: u64,
    key: &VerifyingKey,
) -> Result<Vec<u8>, StatementFault> {
    let statement = CoseSign1::from_tagged_slice(bytes).map_err(|_| StatementFault::Malformed)?;
    let (receipt, inclusion) = read_receipt(&statement).ok_or(StatementFault::Malformed)?;
    let record = statement.payload.clone().ok_or(StatementFault::Malformed)?;
    if inclusion.index != index
        || rewrite(origin, &statement, &record, &receipt, &inclusion, key).as_deref() != Some(bytes)
    {
        return Err(StatementFault::Malformed);
    }
    let root = tree::root_of_proof(
        inclusion.index,
        inclusion.size,
        &tree::leaf_hash(&record),
        &inclusion.path,
    )
    .map_err(|_| StatementFault::Proof)?;
    let holds = |signature: &[u8], signed: &[u8]| {
        Signature::from_slice(signature)
            .is_ok_and(|signature| key.verify_strict(signed, &signature).is_ok())
    };
    if !holds(&receipt.signature, &receipt.tbs_detached_data(&root, &[])) {
        return Err(StatementFault::Receipt);
    }
    if !holds(&statement.signature, &statement.tbs_data(&[])) {
        return Err(StatementFault::Statement);
    }
    Ok(record)
}

/// Writes the statement again with the signatures that were parsed.
fn rewrite(
    origin: &str,
    statement: &CoseSign1,
    record: &[u8],
    receipt: &CoseSign1,
    inclusion: &Inclusion,
    key: &VerifyingKey,
) -> Option<Vec<u8>> {
    let receipt = draft_receipt(origin, inclusion, key)
        .signature(receipt.signature.clone())
        .build()
        .to_tagged_vec()
        .ok()?;
    draft_statement(origin, record, inclusion, receipt, key)
        .signature(statement.signature.clone())
        .build()
        .to_tagged_vec()
        .ok()
}

fn read_receipt(statement: &CoseSign1) -> Option<(CoseSign1, Inclusion)> {
    let bytes = find(&statement.unprotected, RECEIPTS)?.as_array()?.first()?.as_bytes()?;
    let receipt = CoseSign1::from_tagged_slice(bytes).ok()?;
    let (_, proofs) = find(&receipt.unprotected, PROOFS)?.as_map()?.first()?;
    let proof = Value::from_slice(proofs.as_array()?.first()?.as_bytes()?).ok()?;
    let [size, index, path] = proof.as_array()?.as_slice() else { return None };
    let number = |value: &Value| u64::try_from(value.as_integer()?).ok();
    let path = path
        .as_array()?
        .iter()
        .map(|hash| Hash::try_from(hash.as_bytes()?.as_slice()).ok())
        .collect::<Option<Vec<_>>>()?;
    let inclusion = Inclusion { size: number(size)?, index: number(index)?, path };
    Some((receipt, inclusion))
}

fn find(header: &Header, label: i64) -> Option<&Value> {
    let known = |(name, _): &&(Label, Value)| *name == Label::Int(label);
    header.rest.iter().find(known).map(|(_, value)| value)
}

fn draft_statement(
    origin: &str,
    record: &[u8],
    inclusion: &Inclusion,
    receipt: Vec<u8>,
    key: &VerifyingKey,
) -> CoseSign1Builder {
    let protected = protected(key)
        .content_type(JSON.to_owned())
        .value(CWT_CLAIMS, claims(origin, inclusion.index))
        .build();
    let receipts = Value::Array(vec![Value::Bytes(receipt)]);
    CoseSign1Builder::new()
        .protected(protected)
        .unprotected(HeaderBuilder::new().value(RECEIPTS, receipts).build())
        .payload(record.to_vec())
}

/// Begins a receipt. Its payload is the root, which is detached, because a verifier computes the
/// root from the proof.
fn draft_receipt(origin: &str, inclusion: &Inclusion, key: &VerifyingKey) -> CoseSign1Builder {
    let protected = protected(key)
        .value(CWT_CLAIMS, claims(origin, inclusion.index))
        .value(STRUCTURE, RFC9162_SHA256.into())
        .build();
    let path = inclusion.path.iter().map(|hash| Value::Bytes(hash.to_vec())).collect();
    let proof =
        Value::Array(vec![inclusion.size.into(), inclusion.index.into(), Value::Array(path)]);
    let proof = proof.to_vec().unwrap_or_default();
    let proofs = Value::Map(vec![(INCLUSION.into(), Value::Array(vec![Value::Bytes(proof)]))]);
    CoseSign1Builder::new()
        .protected(protected)
        .unprotected(HeaderBuilder::new().value(PROOFS, proofs).build())
}

fn protected(key: &VerifyingKey) -> HeaderBuilder {
    HeaderBuilder::new().algorithm(iana::Algorithm::EdDSA).key_id(thumbprint(key).to_vec())
}

/// Returns the claims, with the log as the issuer and the record as the subject.
fn claims(origin: &str, index: u64) -> Value {
    Value::Map(vec![
        (ISSUER.into(), Value::Text(origin.to_owned())),
        (SUBJECT.into(), Value::Text(format!("record/{}", index + 1))),
    ])
}

/// Returns the key's COSE Key Thumbprint (RFC 9679).
fn thumbprint(key: &VerifyingKey) -> Hash {
    let required = Value::Map(vec![
        (iana::KeyParameter::Kty.to_value(), iana::KeyType::OKP.to_value()),
        (iana::OkpKeyParameter::Crv.to_value(), iana::EllipticCurve::Ed25519.to_value()),
        (iana::OkpKeyParameter::X.to_value(), Value::Bytes(key.as_bytes().to_vec())),
    ]);
    Sha256::digest(required.to_vec().unwrap_or_default()).into()
}

/// Returns a public key in the form that certificate tools read (SubjectPublicKeyInfo in PEM).
pub(crate) fn public_pem(key: &VerifyingKey) -> Option<String> {
    use ed25519_dalek::pkcs8::{EncodePublicKey as _, spki::der::pem::LineEnding};
    key.to_public_key_pem(LineEnding::LF).ok()
}

trait IntoValue {
    fn to_value(self) -> Value;
}

impl<T: iana::EnumI64> IntoValue for T {
    fn to_value(self) -> Value {
        self.to_i64().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_statement_verifies_and_any_flipped_bit_invalidates_it() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let (record, other) = (b"{\"seq\":2}".as_slice(), [9; 32]);
        let root = tree::node_hash(&other, &tree::leaf_hash(record));
        let inclusion = Inclusion { size: 2, index: 1, path: vec![other] };
        let bytes = sign("audit/x", record, &inclusion, &root, &key).unwrap();
        let public = key.verifying_key();
        assert_eq!(check(&bytes, "audit/x", 1, &public).as_deref(), Ok(record));
        assert!(check(&bytes, "audit/y", 1, &public).is_err());
        assert!(check(&bytes, "audit/x", 0, &public).is_err());
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(check(&changed, "audit/x", 1, &public).is_err(), "byte {at} bit {bit}");
            }
            assert!(check(&bytes[..at], "audit/x", 1, &public).is_err());
        }
    }
}
