import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = new URL('../../', import.meta.url);

/** A token of the Markdown parser, as much of it as is used here. */
interface Token {
  readonly children: Token[] | null;
  type: string;
  tag: string;
  info: string;
  attrs: [name: string, value: string][] | null;
}

interface Page {
  readonly tokens: readonly Token[];
  /** Its path, from the root of the repository. */
  readonly env: { readonly relativePath: string };
}

interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (page: Page) => void): void } };
}

const titleOf = (path: string) => /^# (.+)$/m.exec(readFileSync(new URL(path, ROOT), 'utf8'))?.[1] ?? path;
const entry = (path: string) => ({ text: titleOf(path), link: `/${path.replace(/\.md$/, '')}` });
const pagesIn = (folder: string) =>
  readdirSync(new URL(folder, ROOT))
    .filter((name) => name.endsWith('.md'))
    .map((name) => entry(`${folder}${name}`));
/** The pages of the manual in the sequence of the table in the README. */
const rows = readFileSync(new URL('README.md', ROOT), 'utf8').match(/^\| \[.*$/gm) ?? [];
const manual = [...rows.join('\n').matchAll(/\]\(([^)#]+\.md)\)/g)];

/** The README is the first page of the site, and a link to a file that is no page is text there. */
function fitLinks({ tokens, env }: Page): void {
  let isFile = false;
  for (const token of tokens) {
    const href = token.attrs?.find(([name]) => name === 'href');
    if (token.type === 'link_open' && href !== undefined) {
      const [path = '', ...anchor] = href[1].split('#');
      isFile = path !== '' && !/^https?:|\.md$/.test(path);
      if (join(dirname(env.relativePath), path) === 'README.md')
        href[1] = ['/', ...anchor].join('#').replace('/#', '/index.html#');
    }
    if (isFile && token.type.startsWith('link_')) {
      token.tag = 'span';
      token.attrs = null;
    }
    if (token.type === 'link_close') isFile = false;
    fitLinks({ tokens: token.children ?? [], env });
  }
}

/** Code that is indented looks like code that is fenced. */
function fenceCode({ tokens }: Page): void {
  for (const token of tokens) {
    if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'text' });
  }
}

export default {
  title: 'order-sync',
  description: "Keeps a merchant's order table and a crypto/fiat exchange in step.",
  srcDir: '..',
  outDir: '../dist/docs',
  cacheDir: '../dist/.vitepress',
  srcExclude: ['test/**', 'tools/**', 'dist/**', 'data/**'],
  rewrites: { 'README.md': 'index.md' },
  ignoreDeadLinks: [/^http:\/\/(?:localhost|127\.0\.0\.1)/],
  markdown: {
    config(markdown: Markdown) {
      markdown.core.ruler.push('fit-links', fitLinks);
      markdown.core.ruler.push('fence-code', fenceCode);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      { text: 'Manual', items: [{ text: 'order-sync', link: '/' }, ...manual.map(([, path = '']) => entry(path))] },
      { text: 'Reference', items: pagesIn('docs/reference/') },
    ],
  },
};
