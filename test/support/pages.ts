/** The fenced pieces of code of a page in one language. */
export function codeOf(page: string, language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code);
}

/** The cells of each row of the table below a heading, without its head. */
export function tableBelow({ text }: { readonly text: string }, heading: string): string[][] {
  const [, section = ''] = text.split(`\n${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  return table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .slice(2);
}

export function namesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** The words that a person reads on a page: without code, generated tables and the rules of other tables. */
export function proseWords(page: string): number {
  const generated = /^<!-- begin: [^]*?^<!-- end: .*$/gm;
  const code = /^ *```[^]*?^ *```$|^(?: {4}.*\n)+/gm;
  return (
    page
      .replaceAll(generated, '')
      .replaceAll(code, '')
      .match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0
  );
}
