//! Parses address ranges in settings. The module knows no particular setting.

use std::net::IpAddr;

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    address: IpAddr,
    bits: u8,
}

impl Net {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let written: IpAddr = address.trim().parse().ok()?;
        let address = written.to_canonical();
        let most: u8 = if address.is_ipv4() { 32 } else { 128 };
        // In a range such as `::ffff:10.0.0.0/104`, the first 96 bits only mark an IPv4 address.
        let mapped = if written == address { 0 } else { 96 };
        let bits =
            bits.map_or(Some(most), |bits| bits.trim().parse::<u8>().ok()?.checked_sub(mapped))?;
        (bits <= most).then_some(Self { address, bits })
    }

    /// Whether an address lies in the range.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let same = |a: &[u8], b: &[u8]| {
            let (whole, rest) = (usize::from(self.bits / 8), self.bits % 8);
            a[..whole] == b[..whole] && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0)
        };
        match (self.address, ip.to_canonical()) {
            (IpAddr::V4(net), IpAddr::V4(ip)) => same(&net.octets(), &ip.octets()),
            (IpAddr::V6(net), IpAddr::V6(ip)) => same(&net.octets(), &ip.octets()),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}
