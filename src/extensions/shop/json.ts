const NUMBER = /-?\d[\d.eE+-]*/g;

/** Makes each number of a JSON text a string, so that it keeps its digits when it is parsed. Takes time in proportion to the text. */
export function numbersAsText(json: string): string {
  let written = '';
  for (let at = 0; ;) {
    const found = json.indexOf('"', at);
    const open = found < 0 ? json.length : found;
    written += json.slice(at, open).replace(NUMBER, '"$&"');
    if (found < 0) return written;
    at = endOfString(json, open);
    written += json.slice(open, at);
  }
}

function endOfString(json: string, open: number): number {
  for (let close = open; ;) {
    close = json.indexOf('"', close + 1);
    if (close < 0) return json.length;
    let first = close;
    while (json[first - 1] === '\\') first -= 1;
    if ((close - first) % 2 === 0) return close + 1;
  }
}
