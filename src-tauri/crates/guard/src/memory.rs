//! Selects the memory of the app that a guard does not need: all memory except the guard's code,
//! its stack and what the C library uses. Pure: reads the text of `/proc/self/maps`.

/// The number of bytes of anonymous memory that are kept on either side of a needed address, which
/// is enough for a guard's stack and the thread's own variables.
const AROUND: usize = 64 * 1024;

/// The maximum number of bytes that are kept of a file's zero-initialised variables.
const ZEROED: usize = 1024 * 1024;

/// Address ranges, each with a start and an exclusive end. Unused entries are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretches(pub(super) [(usize, usize); 16]);

impl Stretches {
    /// Whether an address lies in one of the ranges.
    pub(super) fn contains(&self, address: usize) -> bool {
        self.0.iter().any(|(start, end)| (*start..*end).contains(&address))
    }
}

/// A line of the memory map.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mapping<'a> {
    start: usize,
    end: usize,
    /// The device and inode. None for anonymous memory.
    file: Option<(&'a str, &'a str)>,
    /// Whether the mapping belongs to the kernel, such as `[vdso]`. Some kernels refuse to unmap
    /// such a mapping, and then also every other mapping in the same call.
    kernel: bool,
}

fn mapping(line: &str) -> Option<Mapping<'_>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let (device, inode) = (fields.nth(2)?, fields.next()?);
    let kernel = fields.next().is_some_and(|name| name.starts_with("[v"));
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(Mapping {
        start: address(start)?,
        end: address(end)?,
        file: (inode != "0").then_some((device, inode)),
        kernel,
    })
}

impl Mapping<'_> {
    /// Whether an address lies in the mapping or close to it.
    fn is_near(&self, address: usize) -> bool {
        self.start < address.saturating_add(AROUND) && address < self.end.saturating_add(AROUND)
    }

    /// Splits the mapping into pieces of `AROUND` bytes.
    fn pieces(self) -> impl Iterator<Item = Self> {
        (self.start..self.end).step_by(AROUND).map(move |start| Self {
            start,
            end: self.end.min(start + AROUND),
            ..self
        })
    }
}

/// Returns the memory that is neither close to a needed address nor part of a file with a needed
/// address. Returns only the largest ranges if there are too many.
pub(super) fn find_unneeded(maps: &str, needed: &[usize]) -> Stretches {
    let mappings: Vec<Mapping<'_>> = maps.lines().filter_map(mapping).collect();
    let of_needed = mappings.iter().filter(|mapping| {
        needed.iter().any(|address| (mapping.start..mapping.end).contains(address))
    });
    let files: Vec<_> = of_needed.filter_map(|mapping| mapping.file).collect();
    let mut found = StretchCollector::default();
    // The end of a needed file's last mapping. The file's zero-initialised variables follow as
    // anonymous memory.
    let mut file_end = None;
    for mapping in mappings {
        let needed_file = mapping.file.is_some_and(|file| files.contains(&file));
        let zeroed = mapping.file.is_none() && file_end == Some(mapping.start);
        let near = mapping.file.is_none() && needed.iter().any(|address| mapping.is_near(*address));
        if mapping.kernel || needed_file {
            found.keep();
        } else if zeroed || near {
            // The kernel merges neighbouring mappings, so a mapping may contain more than these
            // variables.
            for piece in mapping.pieces() {
                let kept = (zeroed && piece.start - mapping.start < ZEROED)
                    || needed.iter().any(|address| piece.is_near(*address));
                if kept { found.keep() } else { found.give_back(piece) }
            }
        } else {
            found.give_back(mapping);
        }
        file_end = needed_file.then_some(mapping.end);
    }
    found.largest()
}

/// Collects address ranges in ascending order.
#[derive(Default)]
struct StretchCollector {
    stretches: Vec<(usize, usize)>,
    /// Whether the last range may still be extended, because no memory after it was kept.
    open: bool,
}

impl StretchCollector {
    fn keep(&mut self) {
        self.open = false;
    }

    fn give_back(&mut self, mapping: Mapping<'_>) {
        match self.stretches.last_mut() {
            Some(last) if self.open => last.1 = mapping.end,
            _ => self.stretches.push((mapping.start, mapping.end)),
        }
        self.open = true;
    }

    fn largest(mut self) -> Stretches {
        let mut largest = Stretches::default();
        self.stretches.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
        largest.0.iter_mut().zip(self.stretches).for_each(|(place, stretch)| *place = stretch);
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stack_and_kernel_mappings_are_not_released() {
        let maps = "100000-120000 r--p 00000000 fe:01 11 /usr/bin/app\n\
                    120000-130000 r-xp 00020000 fe:01 11 /usr/bin/app\n\
                    130000-140000 rw-p 00030000 fe:01 11 /usr/bin/app\n\
                    140000-150000 rw-p 00000000 00:00 0 \n\
                    200000-400000 rw-p 00000000 00:00 0 [heap]\n\
                    400000-500000 r-xp 00000000 fe:01 12 /usr/lib/another.so\n\
                    500000-900000 rw-p 00000000 00:00 0 \n\
                    900000-910000 rw-s 00000000 fe:01 13 /a file (deleted)\n\
                    910000-920000 r-xp 00000000 00:00 0 [vdso]\n\
                    a00000-b00000 rw-p 00000000 00:00 0 [stack]\n";
        let found = find_unneeded(maps, &[0x128000, 0x701000]);
        let kept = [0x100000, 0x120000, 0x130000, 0x14ffff, 0x6f1000, 0x701000, 0x711000, 0x910000];
        assert!(kept.iter().all(|address| !found.contains(*address)), "{found:?}");
        assert_eq!(
            found.0[..4],
            [(0x200000, 0x6f0000), (0x720000, 0x910000), (0xa00000, 0xb00000), (0, 0)]
        );
    }

    #[test]
    fn no_memory_is_released_if_the_memory_map_is_unreadable() {
        assert_eq!(find_unneeded("", &[1]), Stretches::default());
        assert_eq!(find_unneeded("what is this\n", &[1]), Stretches::default());
    }
}
