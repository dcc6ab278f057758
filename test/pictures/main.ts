import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launchChromium } from '../support/chromium.ts';
import { PAGES, picturesOf, type PageName } from './pictures.ts';

const NAMES = Object.keys(PAGES) as PageName[];
const USAGE = `usage: npm run pictures [-- [--out FOLDER] [NAME…]]
  NAME          ${NAMES.join(', ')}; all of them unless given
  --out FOLDER  where the pictures are written; docs/pictures unless given
`;
const { values, positionals } = parseArgs({
  options: {
    out: { type: 'string', default: fileURLToPath(new URL('../../docs/pictures', import.meta.url)) },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !(NAMES as string[]).includes(name));
if (values.help === true) process.stdout.write(USAGE);
else if (unknown.length > 0) {
  process.stderr.write(`no page is called ${unknown.join(', ')}\n${USAGE}`);
  process.exitCode = 64;
} else await take(NAMES.filter((name) => positionals.length === 0 || positionals.includes(name)));

async function take(names: readonly PageName[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-pictures-'));
  const browser = await launchChromium();
  try {
    for (const name of names) {
      for (const [picture, bytes] of await picturesOf(browser, name, folder)) {
        writeFileSync(join(values.out, `${picture}.png`), bytes);
        process.stdout.write(`${picture}.png: ${Math.ceil(bytes.length / 1_000)} kB\n`);
      }
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
