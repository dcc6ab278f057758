import { inflateRawSync } from 'node:zlib';

/** The files of a zip archive by their names, and the times that they are given. */
export function unzip(zip: Buffer): { readonly files: ReadonlyMap<string, string>; readonly times: readonly number[] } {
  const files = new Map<string, string>();
  const times: number[] = [];
  const end = zip.length - 22;
  let entry = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    const nameLength = zip.readUInt16LE(entry + 28);
    const name = zip.toString('utf8', entry + 46, entry + 46 + nameLength);
    const file = zip.readUInt32LE(entry + 42);
    const data = file + 30 + zip.readUInt16LE(file + 26) + zip.readUInt16LE(file + 28);
    const bytes = zip.subarray(data, data + zip.readUInt32LE(entry + 20));
    files.set(name, (zip.readUInt16LE(entry + 10) === 8 ? inflateRawSync(bytes) : bytes).toString());
    times.push(zip.readUInt32LE(entry + 12), zip.readUInt32LE(file + 10));
    entry += 46 + nameLength + zip.readUInt16LE(entry + 30) + zip.readUInt16LE(entry + 32);
  }
  return { files, times };
}
