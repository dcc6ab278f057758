import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

/** The licences of the packages that are part of files made of `inputs`: each asks that its text goes with them. */
export function thirdParties(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const sections = [...folders].toSorted().map((folder) => sectionOf(root, join(root, folder)));
  const head = 'The JavaScript in `src/program/` holds code of these packages, under the licences that follow.';
  return `# Third parties\n\n${head}\n\n${[...new Set(sections)].join('\n')}`;
}

function sectionOf(root: string, folder: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const file = readdirSync(folder).find((one) => /^(?:licen[cs]e|copying)/i.test(one));
  const text = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
  const owner = typeof author === 'object' ? author.name : (author ?? `the authors of ${name}`);
  return `## ${name} ${version} (${license})\n\n${text ?? usualText(root, license, owner)}\n`;
}

/** Some say the name of their licence alone. */
function usualText(root: string, license: string, owner: string): string {
  if (license !== 'MIT') throw new Error(`a package under ${license} has no text of its licence`);
  return readFileSync(join(root, 'LICENSE'), 'utf8')
    .trim()
    .replace(/^Copyright .*$/m, `Copyright (c) ${owner}`);
}
