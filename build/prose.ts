import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const CODE = '{src,migrations,bench,build,test}/**/*.{ts,mjs,cjs}';
const PAGES = ['docs/*.md', 'src/**/*.md', '{README,CONTRIBUTING,SECURITY}.md'];
/** Folders that have yet to be rewritten, and the files that quote what is forbidden. */
const SKIPPED = [
  ...['docs/**', '{src,test}/extensions/{api,clients,feed,intake,operate,restore,sandbox,setup,shop,webhooks}/**'],
  ...['build/prose.ts', 'test/build/prose.test.ts'],
];
const COMMENT = /\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*|\/\*[^]*?\*\//;
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\\])*`/;
/** Behind these characters a `/` divides nothing. */
const REGULAR = /(?<=(?:[(,=:[!&|?{};>]|return)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//;
const TOKEN = new RegExp(`(?<raw>${COMMENT.source}|${STRING.source})|${REGULAR.source}`, 'g');
const SQL =
  /\b(?:select|insert into|delete from|create (?:\w+ )?(?:table|index|trigger|view)|case when|glob|join)\b|[=<>]/;
/** Names and values of code within prose, and the blocks of code of a page. */
const NAMES = /(?<!^)`[^`\n]+`(?!$)|\$\{(?:[^{}]|\{[^{}]*\})*\}/g;
const BLOCKS = /^```[^]*?^```|^(?: {4}.*\n)+/gm;

/** Forbidden English, by what to write instead. A title, such as "What to do", is no sentence. */
const PATTERNS = Object.entries({
  'a name at the beginning': /(?:^|[.!] )(?:What|Where|Whether|Those)\b(?![^.]*\?)|; (?:what|whether)\b/,
  'if, when or because': /(?<!\bsays )\bwhere\b(?![^.]*\?)/,
  'returns, has, sends': /\bgives\b(?! (?:it|up) )/i,
  must: /\b(?:is|are|was|were) to be\b/,
  'the name of these': /\bthose (?:that|who|which)\b/i,
  'this many, or a number': /\bso many\b/i,
  'no person, no process': /\bnobody\b/i,
  meanwhile: /\bin the mean\b/i,
  'depends on': /\bhangs? on\b/i,
  continues: /\bgo(?:es)? on\b/i,
  waits: /\bparked\b/i,
});

/** Returns the lines with forbidden English, each with what to write instead. `quoted`: texts that must stay as they are. */
export function forbiddenIn(text: string, isPage: boolean, quoted = ''): string[] {
  const shown = isPage ? text.replaceAll(BLOCKS, (code) => code.replaceAll(/./g, '')) : text;
  return [...shown.matchAll(isPage ? /(?<raw>(?:^.+\n?)+)/gm : TOKEN)].flatMap(
    ({ index, groups: { raw = '' } = {} }) => {
      const isString = !isPage && /^['"`]/.test(raw);
      if (isString && (SQL.test(raw) || !raw.includes(' ') || quoted.includes(raw.slice(1, -1).trim()))) return [];
      const plain = isString ? raw : raw.replaceAll(/^\s*(?:\/\/|\/?\*+\/?)|\*\/$/gm, '').replaceAll(/\s+/g, ' ');
      const prose = plain.replaceAll(NAMES, '_').trim();
      const line = shown.slice(0, index).split('\n').length;
      return PATTERNS.flatMap(([instead, is]) => (is.test(prose) ? [`${line}: write "${instead}": ${prose}`] : []));
    },
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const read = (file: string) => readFileSync(file, 'utf8');
  const quoted = globSync('docs/**/*.md').map(read).join('\n');
  const found = globSync([CODE, ...PAGES], { exclude: SKIPPED }).flatMap((file) =>
    forbiddenIn(read(file), file.endsWith('.md'), quoted).map((line) => `${file}:${line}\n`),
  );
  process.stdout.write(found.join(''));
  process.exitCode = Math.min(found.length, 1);
}
