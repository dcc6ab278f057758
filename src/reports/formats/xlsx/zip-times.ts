const END_OF_DIRECTORY = 0x06054b50;
const END_LENGTH = 22;
const DIRECTORY_ENTRY_LENGTH = 46;
/** 1980-01-01 00:00, the first moment of the format: time and day, two bytes each. */
const FIRST_MOMENT = 0x00210000;

/**
 * Sets the time of every file in a zip archive to the same moment, so that the same content gives the same bytes. The
 * archive must not have a comment.
 */
export function fixZipTimes(zip: Buffer): Buffer {
  const end = zip.length - END_LENGTH;
  if (zip.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error('the zip archive does not end as expected');
  const entries = zip.readUInt16LE(end + 10);
  let entry = zip.readUInt32LE(end + 16);
  for (let index = 0; index < entries; index += 1) {
    const file = zip.readUInt32LE(entry + 42);
    zip.writeUInt32LE(FIRST_MOMENT, entry + 12);
    zip.writeUInt32LE(FIRST_MOMENT, file + 10);
    // The name, the extra field and the comment follow the fixed part of an entry.
    const behind = zip.readUInt16LE(entry + 28) + zip.readUInt16LE(entry + 30) + zip.readUInt16LE(entry + 32);
    entry += DIRECTORY_ENTRY_LENGTH + behind;
  }
  return zip;
}
