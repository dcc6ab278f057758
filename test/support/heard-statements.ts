import type { WrapStatement } from '../../src/store/sqlite/connection.ts';

/** Calls `onStatement` with the text of each statement before it runs on SQLite. */
export function heardStatements(onStatement: (text: string) => void): WrapStatement {
  return (text, statement) => {
    const heard = <Value>(run: () => Value) => {
      onStatement(text);
      return run();
    };
    return {
      reader: statement.reader,
      all: (parameters) => heard(() => statement.all(parameters)),
      run: (parameters) => heard(() => statement.run(parameters)),
      iterate: (parameters) => heard(() => statement.iterate(parameters)),
    };
  };
}
