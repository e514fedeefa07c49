// Values of the axes of charts, and places of their labels. Pure.

/** Round values from 0 to at least `max`, about `count` of them: steps of 1, 2, 2.5 or 5 times a power of ten. */
export function niceTicks(max: number, count = 4): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10]
    .map((factor) => factor * power)
    .find((candidate) => candidate >= rough - 1e-9)!;
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Round values that enclose zero and all values between `min` and `max`. */
export function ticksBetween(min: number, max: number, count = 4): number[] {
  if (!(min < 0)) return niceTicks(max, count);
  const step = niceTicks(Math.max(max, -min), count)[1]!;
  const below = Math.ceil(-min / step - 1e-9);
  const above = Math.ceil(Math.max(0, max) / step - 1e-9);
  return Array.from({ length: below + above + 1 }, (_, index) =>
    Number(((index - below) * step).toPrecision(12)),
  );
}

/** Round values that enclose all values between `min` and `max`, and zero only if it is near. */
export function ticksWithin(min: number, max: number, count = 4): number[] {
  const span = max - min;
  const isNearZero = min <= 0 === max >= 0 || Math.min(Math.abs(min), Math.abs(max)) < span;
  if (!(span > 0) || isNearZero) return ticksBetween(Math.min(0, min), Math.max(0, max), count);
  const step = niceTicks(span, count)[1]!;
  const [first, last] = [Math.floor(min / step + 1e-9), Math.ceil(max / step - 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Returns which of `count` places over `width` pixels get a label of `need` pixels. The first place always gets a label. */
export function labelled(count: number, width: number, need: number): number[] {
  const step = Math.max(1, Math.ceil((need * count) / Math.max(1, width)));
  const places: number[] = [];
  for (let index = 0; index < count; index += step) places.push(index);
  return places;
}
