/** As much of a source map as matters here. */
interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CONTINUES = 32;

/** Leaves out the source of the code of packages: in a bundle that is most of the map. */
export function ownMap<T extends SourceMap>(map: T): T {
  const sources = map.sources.filter((source) => !source.includes('node_modules/'));
  const place = map.sources.map((source) => sources.indexOf(source));
  // Each number of a mapping but the column is the difference to the last mapping that has it.
  let read: readonly number[] = [0, 0, 0];
  let written: readonly number[] = [0, 0, 0];
  const lines = map.mappings.split(';').map((line) => {
    let [readColumn, writtenColumn, isOwn] = [0, 0, true];
    const kept: string[] = [];
    for (const segment of line === '' ? [] : line.split(',')) {
      const [column = 0, ...origin] = decode(segment);
      readColumn += column;
      read = read.map((value, index) => value + (origin[index] ?? 0));
      const [source = 0, ...position] = read;
      const own = origin.length === 0 ? -1 : (place[source] ?? -1);
      // One mapping to nowhere ends the one before it.
      if (own < 0 && !isOwn) continue;
      isOwn = own >= 0;
      const now = [own, ...position];
      kept.push(
        encode([readColumn - writtenColumn, ...(isOwn ? now.map((value, index) => value - written[index]!) : [])]),
      );
      writtenColumn = readColumn;
      if (isOwn) written = now;
    }
    return kept.join(',');
  });
  return { ...map, sources, names: [], mappings: lines.join(';').replace(/;+$/, '') };
}

/** The numbers of a segment, without that of a name. */
function decode(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & (CONTINUES - 1)) << shift;
    shift += 5;
    if ((bits & CONTINUES) !== 0) continue;
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers.slice(0, 4);
}

function encode(numbers: readonly number[]): string {
  return numbers.map((number) => encodeOne(number < 0 ? (-number << 1) | 1 : number << 1)).join('');
}

function encodeOne(value: number): string {
  const rest = value >> 5;
  const digit = DIGITS[(value & (CONTINUES - 1)) | (rest > 0 ? CONTINUES : 0)] ?? '';
  return rest > 0 ? digit + encodeOne(rest) : digit;
}
