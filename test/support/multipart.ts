/** The line between the parts of a body made by hand. */
export const BOUNDARY = 'frontier-7';

/** Any headers of a part, and its content. */
export function part(headers: readonly string[], content: string | Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`, 'latin1'),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
}

/** A part `file` with its name as it stands, and what it says of its type. */
export function filePart(content: string | Buffer, filename = 'photo.jpg', type = 'image/jpeg'): Buffer {
  return part(
    [`Content-Disposition: form-data; name="file"; filename="${filename}"`, `Content-Type: ${type}`],
    content,
  );
}

/** A part `details` with a token, as a field. */
export function detailsPart(token: string, ...headers: string[]): Buffer {
  return part(['Content-Disposition: form-data; name="details"', ...headers], JSON.stringify({ token }));
}

/** A whole body. */
export function multipart(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** The head of a request that sends a body, without the empty line that ends it. */
export function head(...headers: readonly string[]): string {
  return [
    'POST /photos HTTP/1.1',
    'host: receiver.example',
    `content-type: multipart/form-data; boundary=${BOUNDARY}`,
    ...headers,
    '',
  ].join('\r\n');
}
