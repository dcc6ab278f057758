import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const CODE = '{src,migrations,bench,build,test}/**/*.{ts,mjs,cjs}';
const PAGES = ['docs/*.md', 'src/**/*.md', '{README,CONTRIBUTING,SECURITY}.md'];
/** Extensions and pages that have yet to be rewritten; and the files that quote what is forbidden. */
const NOT_YET = 'feed,operate,restore,sandbox,setup,webhooks';
const SKIPPED = [
  'docs/reference/**',
  `{src,test}/extensions/{${NOT_YET}}/**`,
  '{build/prose,test/build/prose.test}.ts',
];
const COMMENT = /\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*|\/\*[^]*?\*\//;
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\\])*`/;
/** Behind these characters a `/` divides nothing. */
const REGULAR = /(?<=(?:[(,=:[!&|?{};>]|return)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//;
const TOKEN = new RegExp(`(?<raw>${COMMENT.source}|${STRING.source})|${REGULAR.source}`, 'g');
const SQL = /\b(?:select|insert into|delete from|create (?:table|index|trigger|view)|case when|glob|join)\b|[=<>]/;
/** Names and values of code within prose, names of tests, and the blocks of code of a page. */
const NAMES = /(?<!^)`[^`\n]+`(?!$)|"[^"\n]+…"|\$\{(?:[^{}]|\{[^{}]*\})*\}/g;
const BLOCKS = /^```[^]*?^```|^(?: {4}.*\n)+/gm;

/** Forbidden English, by what to write instead. A title, such as "What to do", is no sentence. */
const PATTERNS = Object.entries({
  'a name at the beginning': /(?:^|[.!] )(?:What|Where|Whether|Those)\b(?![^.]*\?)|; (?:what|whether)\b/,
  'if, when or because': /(?<!\bsays )\bwhere\b(?![^.]*\?)/,
  'returns, has, sends': /\bgives\b(?! (?:it|up) )/i,
  must: /\b(?:is|are|was|were)(?: not)? to be\b/,
  'the name of these': /\bthose (?:that|who|which)\b/i,
  'this many, or a number': /\bso many\b/i,
  'no person, no process': /\bnobody\b/i,
  meanwhile: /\bin the mean\b/i,
  'depends on': /\bhangs? on\b/i,
  continues: /\bgo(?:es)? on\b/i,
  waits: /\bparked\b/i,
});

/** Returns the lines with forbidden English, and what to write instead. A string stays as `manual` quotes it or its beginning. */
export function forbiddenIn(text: string, isPage: boolean, manual = ''): string[] {
  const begun = [...manual.matchAll(/"([^"\n]+)…"/g)].map(([, begin = '']) => begin);
  const shown = isPage ? text.replaceAll(BLOCKS, (code) => code.replaceAll(/./g, '')) : text;
  const pieces = [...shown.matchAll(isPage ? /(?<raw>^\|.*|(?:^(?!\|).+\n?)+)/gm : TOKEN)];
  return pieces.flatMap(({ index, groups: { raw = '' } = {} }) => {
    const isString = !isPage && /^['"`]/.test(raw);
    const plain = isString ? raw : raw.replaceAll(/^\s*(?:\/\/|\/?\*+\/?)|\*\/$/gm, '').replaceAll(/\s+/g, ' ');
    const prose = plain.replaceAll(NAMES, '_').trim();
    const instead = PATTERNS.filter(([, pattern]) => pattern.test(prose)).map(([words]) => words);
    const value = raw.slice(1, -1).trim();
    const isQuoted = () => manual.includes(value) || begun.some((begin) => value.startsWith(begin));
    if (instead.length === 0 || (isString && (SQL.test(raw) || !raw.includes(' ') || isQuoted()))) return [];
    return `${shown.slice(0, index).split('\n').length}: write ${instead.join('; ')}: ${prose}`;
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const read = (file: string) => readFileSync(file, 'utf8');
  const manual = globSync('docs/**/*.md').map(read).join('\n');
  const found = globSync([CODE, ...PAGES], { exclude: SKIPPED }).flatMap((file) =>
    forbiddenIn(read(file), file.endsWith('.md'), manual).map((line) => `${file}:${line}\n`),
  );
  process.stdout.write(found.join(''));
  process.exitCode = Math.min(found.length, 1);
}
