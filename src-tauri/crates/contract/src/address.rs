//! Which addresses a pack's request may connect to: one rule for HTTP tools and for servers that are reached by an address.
//! Pure arithmetic; who resolves names, and who connects, is elsewhere.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address may be connected to; `private` says that this computer and the local network are allowed.
pub fn may_reach(ip: IpAddr, private: bool) -> bool {
    match canonical(ip) {
        IpAddr::V4(v4) => !never_v4(v4) && (private || !is_private(ip)),
        IpAddr::V6(v6) => !never_v6(v6) && (private || !is_private(ip)),
    }
}

/// This computer, the local network, or a carrier's inner network.
pub fn is_private(ip: IpAddr) -> bool {
    match canonical(ip) {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let protocol = a == 192 && b == 0 && c == 0;
            let measured = a == 198 && (b == 18 || b == 19);
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || shared || protocol || measured
        }
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            let unique_local = first & 0xfe00 == 0xfc00;
            let link_local = first & 0xffc0 == 0xfe80;
            let site_local = first & 0xffc0 == 0xfec0;
            v6.is_loopback() || unique_local || link_local || site_local
        }
    }
}

/// No single machine: unspecified (which would be this computer), broadcast, many at once, reserved.
fn never_v4(v4: Ipv4Addr) -> bool {
    v4.octets()[0] == 0 || v4.is_broadcast() || v4.is_multicast() || v4.octets()[0] >= 240
}

fn never_v6(v6: Ipv6Addr) -> bool {
    let [first, second, ..] = v6.segments();
    // Teredo hides another address in a way that cannot be checked here.
    v6.is_unspecified() || v6.is_multicast() || (first == 0x2001 && second == 0)
}

/// An IPv4 address in an IPv6 one is what is really reached.
fn canonical(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let s = v6.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        // Compatible addresses; `::` and `::1` are what they are.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        _ => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_in_every_disguise() {
        let private = [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
        ];
        for text in private {
            let ip: IpAddr = text.parse().unwrap();
            assert!(is_private(ip) && !may_reach(ip, false) && may_reach(ip, true), "{text}");
        }
        for text in ["0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.1", "240.0.0.1", "::", "ff02::1", "2001:0:1::1", "::ffff:0.0.0.0", "64:ff9b::e000:1"] {
            let ip: IpAddr = text.parse().unwrap();
            assert!(!may_reach(ip, false) && !may_reach(ip, true), "{text}");
        }
        for text in ["93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "64:ff9b::808:808", "::ffff:8.8.8.8"] {
            let ip: IpAddr = text.parse().unwrap();
            assert!(may_reach(ip, false), "{text}");
        }
    }
}
