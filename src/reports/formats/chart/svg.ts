import { LINE, INK, type Paints } from './paint.ts';
import type { Drawing, Size } from './size.ts';

type Attributes = Readonly<Partial<Record<string, string>>>;

/**
 * Writes the shapes and texts of a drawing anew, with what they need alone: shapes that look alike become one, and colours
 * those of the page. Texts are escaped, so what looks like a tag is one.
 */
export function compactSvg(svg: string, { width, height }: Drawing, size: Size, paints: Paints): string {
  const shapes: { rest: string; path: string }[] = [];
  for (const [, tag, attributes = '', text = ''] of svg.matchAll(/<(path|text)\b([^>]*)>([^<]*)</g)) {
    const read: Attributes = Object.fromEntries(
      [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    const shape = tag === 'text' ? { rest: textOf(read, text, paints), path: '' } : pathOf(read, paints);
    const last = shapes.at(-1);
    if (last !== undefined && last.path !== '' && last.rest === shape.rest) last.path += shape.path;
    else shapes.push(shape);
  }
  const inner = shapes.map(({ rest, path }) => (path === '' ? rest : `<path d="${path}"${rest}/>`)).join('');
  return `<svg class="${size.name}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="${size.fontSize}" fill="${INK}">${inner}</svg>`;
}

function pathOf({ d = '', fill = '', stroke, 'stroke-width': width = '1' }: Attributes, paints: Paints) {
  const path = d
    .replace(/l(-?[\d.]+) 0(?![\d.])/g, 'h$1')
    .replace(/l0 (-?[\d.]+)/g, 'v$1')
    .replace(/ ?([LZ]) ?/g, '$1');
  if (stroke === undefined) return { path, rest: paints.get(fill) ?? '' };
  const color = stroke === LINE ? `class="line" stroke="${LINE}"` : `class="mark" stroke="${INK}"`;
  return { path, rest: ` ${color}${width === '1' ? '' : ` stroke-width="${width}"`}` };
}

function textOf(
  { x = '0', y = '0', transform = '', style = '', fill = '', ...rest }: Attributes,
  text: string,
  paints: Paints,
) {
  const [, left = '0', top = '0'] = /translate\((\S+) (\S+)\)/.exec(transform) ?? [];
  const sum = (a: string, b: string) => String(Math.round((Number(a) + Number(b)) * 10) / 10);
  const anchor = rest['text-anchor'] === 'start' ? '' : ` text-anchor="${rest['text-anchor']}"`;
  const weight = style.includes('font-weight') ? ' font-weight="600"' : '';
  // The middle of the line stands at the height that the library gives.
  return `<text x="${sum(x, left)}" y="${sum(y, top)}" dy=".35em"${anchor}${weight}${paints.get(fill) ?? ''}>${text}</text>`;
}
