import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isChromiumMissing, launchChromium } from '../support/chromium.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SITE = join(ROOT, 'dist/docs');
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

beforeAll(() => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'docs'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
});

const pages = () =>
  readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.html') && name !== '404.html',
  );

describe('the site of the manual', () => {
  it('has every page, and each link leads to a page and to a heading of it', () => {
    expect(pages()).toEqual(
      expect.arrayContaining(['index.html', 'docs/integrating.html', 'docs/reference/settings.html']),
    );
    const html = new Map(pages().map((page) => [page, readFileSync(join(SITE, page), 'utf8')]));
    const broken = [...html].flatMap(([page, text]) =>
      [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href = '']) => {
        if (/^[a-z]+:/.test(href)) return [];
        const [path = '', anchor = ''] = href.split('#');
        const place = path.startsWith('/') ? path.slice(1) : relative('.', join(dirname(page), path));
        const target = path === '' ? page : place;
        const isThere = existsSync(join(SITE, target)) && !target.endsWith('/');
        const isHeading = anchor === '' || (html.get(target) ?? '').includes(`id="${decodeURIComponent(anchor)}"`);
        return isThere && isHeading ? [] : [`${page}: ${href}`];
      }),
    );
    expect(broken).toEqual([]);
  });
});

describe.skipIf(isChromiumMissing)('a page of the site in a browser', () => {
  let browser: Browser;
  let server: Server;
  let origin: string;

  beforeAll(async () => {
    server = createServer(({ url = '/' }, response) => {
      const path = new URL(url, 'http://site').pathname.replace(/\/$/, '/index.html');
      const file = join(SITE, path);
      if (!existsSync(file)) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      response.end(readFileSync(file));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  it.each([
    ['desktop', 1280, 'light'],
    ['phone', 390, 'dark'],
  ] as const)('fits a %s, finds a word, and fails at nothing', async (_name, width, colorScheme) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('requestfailed', (request) => faults.push(request.url()));
    for (const path of ['/', '/docs/integrating.html', '/docs/reference/settings.html']) {
      await page.goto(`${origin}${path}`, { waitUntil: 'networkidle' });
      expect([
        path,
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      ]).toEqual([path, 0]);
    }
    await page.click('.DocSearch-Button');
    await page.fill('.VPLocalSearchBox input', 'synchronousStandbys');
    await page.waitForSelector('.VPLocalSearchBox .result');
    expect(faults).toEqual([]);
    await page.close();
  });
});
