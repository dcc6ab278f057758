import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit, PlantedBug } from './bug.ts';
import { findDeclaration } from './declaration.ts';

/** The root of this checkout. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Reads a file by its path from the root of the repository; undefined if there is none. */
export type ReadFile = (file: string) => string | undefined;

/** The files with a bug in them, by their paths, and why some of its edits no longer apply. */
export interface Planted {
  readonly files: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Plants a bug into files as they are now. */
export function plant({ edits }: Pick<PlantedBug, 'edits'>, read: ReadFile): Planted {
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const edit of edits) {
    const edited = applied(edit, files.get(edit.file) ?? read(edit.file));
    if (edited.kind === 'text') files.set(edit.file, edited.text);
    else problems.push(`${edit.file}: ${edited.why}`);
  }
  return { files, problems };
}

/** Plants a bug into the files of this checkout. */
export function plantHere(bug: PlantedBug): Planted {
  return plant(bug, (file) => {
    try {
      return readFileSync(join(ROOT, file), 'utf8');
    } catch {
      return undefined;
    }
  });
}

type Applied = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'problem'; readonly why: string };

function applied(edit: Edit, text: string | undefined): Applied {
  const problem = (why: string) => ({ kind: 'problem', why }) as const;
  if (text === undefined) return problem('there is no such file');
  const extent = findDeclaration(text, edit.in);
  if (typeof extent === 'string') return problem(extent);
  const declaration = text.slice(extent.from, extent.to);
  const count = declaration.split(edit.from).length - 1;
  if (count !== 1) return problem(`${edit.in} has ${JSON.stringify(edit.from)} ${count} times`);
  const changed = declaration.split(edit.from).join(edit.to);
  return { kind: 'text', text: text.slice(0, extent.from) + changed + text.slice(extent.to) };
}
