/** The file types that `photoType` returns, with their extensions. `photos.types` names the accepted types. */
export const PHOTO_EXTENSIONS = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/heic': 'heic',
  'application/pdf': 'pdf',
  'image/gif': 'gif',
  'image/bmp': 'bmp',
  'image/avif': 'avif',
  'image/tiff': 'tiff',
} as const;

export type PhotoType = keyof typeof PHOTO_EXTENSIONS;

export const PHOTO_TYPES = Object.keys(PHOTO_EXTENSIONS) as readonly PhotoType[];

export const SIGNATURE_BYTES = 64;

const PNG = '\x89PNG\r\n\x1a\n';
const BMP_HEADERS = [12, 40, 52, 56, 64, 108, 124];
const AVIF_BRANDS = ['avif', 'avis'];
const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'];
/** Major brands that several formats share. If a file has one of them, its compatible brands decide. */
const SHARED_BRANDS = ['mif1', 'msf1'];

/** Finds the type of a file by its first bytes, not by its name. */
export function photoType(bytes: Uint8Array): PhotoType | undefined {
  const first = String.fromCharCode(...bytes.subarray(0, SIGNATURE_BYTES));
  if (first.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (first.startsWith(PNG)) return 'image/png';
  if (first.startsWith('RIFF') && first.startsWith('WEBP', 8)) return 'image/webp';
  if (first.startsWith('%PDF-')) return 'application/pdf';
  if (/^GIF8[79]a/.test(first)) return 'image/gif';
  if (first.startsWith('II*\0') || first.startsWith('MM\0*')) return 'image/tiff';
  if (isBmp(first)) return 'image/bmp';
  return containerType(bytes, first);
}

/** Checks the reserved bytes and the length of the header too, because other files may begin with `BM`. */
function isBmp(first: string): boolean {
  return first.startsWith('BM') && first.startsWith('\0\0\0\0', 6) && BMP_HEADERS.includes(first.charCodeAt(14));
}

/** Reads the first box of an ISO media file: length, the name `ftyp`, major brand, version, compatible brands. */
function containerType(bytes: Uint8Array, first: string): PhotoType | undefined {
  if (!first.startsWith('ftyp', 4)) return undefined;
  const major = first.slice(8, 12);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const compatible = first.slice(16, length).match(/.{4}/gs) ?? [];
  const brands: readonly string[] = SHARED_BRANDS.includes(major) ? compatible : [major];
  if (brands.some((brand) => AVIF_BRANDS.includes(brand))) return 'image/avif';
  return brands.some((brand) => HEIC_BRANDS.includes(brand)) ? 'image/heic' : undefined;
}

export interface KnownToken {
  readonly expiresAt: Date;
  /** SHA-256 of each file of the delivery, refused files included; undefined while the token is unused. */
  readonly stored: readonly string[] | undefined;
}

/** A token allows one delivery before it expires. The same files may come again if our answer was lost. */
export function decideDelivery(token: KnownToken | undefined, delivered: readonly string[], now: Date) {
  if (token === undefined) return 'forbidden';
  if (token.stored !== undefined) {
    return new Set(token.stored).symmetricDifference(new Set(delivered)).size === 0 ? 'repeated' : 'forbidden';
  }
  return token.expiresAt > now ? 'store' : 'forbidden';
}
