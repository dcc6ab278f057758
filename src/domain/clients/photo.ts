/** The accepted types of files, with the extension of each. */
export const PHOTO_EXTENSIONS = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/heic': 'heic',
  'application/pdf': 'pdf',
} as const;

/** An accepted type of files. */
export type PhotoType = keyof typeof PHOTO_EXTENSIONS;

/** The number of first bytes that show the type of a file. */
export const SIGNATURE_BYTES = 64;

const PNG = '\x89PNG\r\n\x1a\n';
const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'];
/** Brands of a container that HEIC shares with other formats: there the compatible brands decide. */
const SHARED_BRANDS = ['mif1', 'msf1'];

/** Finds the type of a file by its first bytes, whatever its name says; undefined where it is not accepted. */
export function photoType(bytes: Uint8Array): PhotoType | undefined {
  const first = String.fromCharCode(...bytes.subarray(0, SIGNATURE_BYTES));
  if (first.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (first.startsWith(PNG)) return 'image/png';
  if (first.startsWith('RIFF') && first.startsWith('WEBP', 8)) return 'image/webp';
  if (first.startsWith('%PDF-')) return 'application/pdf';
  return isHeic(bytes, first) ? 'image/heic' : undefined;
}

/** ISO base media: a box `ftyp` of its own length with the major brand, a version, and the compatible brands. */
function isHeic(bytes: Uint8Array, first: string): boolean {
  if (!first.startsWith('ftyp', 4)) return false;
  const major = first.slice(8, 12);
  if (!SHARED_BRANDS.includes(major)) return HEIC_BRANDS.includes(major);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const compatible = first.slice(16, length).match(/.{4}/gs) ?? [];
  return compatible.some((brand) => HEIC_BRANDS.includes(brand));
}

/** The stored token of a delivery. */
export interface KnownToken {
  readonly expiresAt: Date;
  /** SHA-256 of each file that was stored with it; undefined while it is unused. */
  readonly stored: readonly string[] | undefined;
}

/** The decision about a delivery (§6): its files are stored, were stored before, or are refused. */
export type DeliveryDecision = 'store' | 'repeated' | 'forbidden';

/**
 * Decides about a delivery. A token allows one delivery until it expires. The same files in any order may come again, even
 * later: the interface does not say whether the exchange repeats a delivery whose answer it has lost.
 */
export function decideDelivery(
  token: KnownToken | undefined,
  delivered: readonly string[],
  now: Date,
): DeliveryDecision {
  if (token === undefined) return 'forbidden';
  if (token.stored !== undefined) {
    return new Set(token.stored).symmetricDifference(new Set(delivered)).size === 0 ? 'repeated' : 'forbidden';
  }
  return token.expiresAt > now ? 'store' : 'forbidden';
}
