/** The place of a declaration in a text: from its first character until after its last one. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

const MODIFIERS = '(?:(?:export|default|declare|abstract|async|static|readonly|override|get|set|private)\\s+)*';
/** A line at the indentation of the declaration that continues it. */
const CLOSER = /^[})\]]/;
const OPENER = /(?:[{([=|&,:]|=>)$/;

/**
 * Finds a declaration in code that is formatted: it ends at the first line of its own indentation that closes it. A name
 * may be that of a function, constant, class, method or property; `Class.method` looks inside of the class. Returns why
 * it cannot be found otherwise.
 */
export function findDeclaration(text: string, name: string): Extent | string {
  let within: Extent = { from: 0, to: text.length };
  for (const part of name.split('.')) {
    const found = declarationsOf(text, part, within);
    const [only] = found;
    if (only === undefined) return `there is no ${name}`;
    if (found.length > 1) return `there are ${found.length} declarations of ${name}`;
    within = only;
  }
  return within;
}

/** The declarations that are the least indented: a constant of a method, or a property of a table, may have the same name. */
function declarationsOf(text: string, name: string, within: Extent): readonly Extent[] {
  const word = RegExp.escape(name);
  const declared = `(?:function\\*?|const|let|class)\\s+${word}(?![\\w$])`;
  const kinds = [declared, `\\*?${word}(?=[(<])`, `${word}[?!]?(?=\\s*[:=])`];
  const found = kinds.flatMap((kind, index) => {
    const lines = text.matchAll(new RegExp(`^([ ]*)${MODIFIERS}${kind}.*$`, 'gm'));
    const declarations = [...lines]
      // The declaration itself is not inside of itself.
      .filter((line) => (within.from === 0 || line.index > within.from) && line.index < within.to)
      .map((line) => ({ indentation: line[1]?.length ?? 0, extent: extentOf(text, line.index, line[1]?.length ?? 0) }));
    // A call of a method looks like one, but for its end.
    return index === 1
      ? declarations.filter(({ extent }) => text.slice(extent.from, extent.to).endsWith('}'))
      : declarations;
  });
  const least = Math.min(...found.map(({ indentation }) => indentation));
  return found.filter(({ indentation }) => indentation === least).map(({ extent }) => extent);
}

/** From the line that begins at `from`, with this many blanks before it, to the line that closes it. */
function extentOf(text: string, from: number, indentation: number): Extent {
  let to = endOfLine(text, from);
  if (!OPENER.test(text.slice(from, to))) return { from, to };
  for (let next = to + 1; next < text.length; next = to + 1) {
    const end = endOfLine(text, next);
    const line = text.slice(next, end);
    const isInside = line.trim() === '' || line.startsWith(' '.repeat(indentation + 1));
    if (!isInside && !CLOSER.test(line.slice(indentation))) return { from, to };
    to = end;
    if (!isInside && !OPENER.test(line)) break;
  }
  return { from, to };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
