'use strict';
// Prints the totals of vitest's JSON report and of the proof's, each of whose parts is a test; exit 1 when one is missing, when
// no test ran or when one failed.
const { readFileSync } = require('node:fs');

/** @returns {{ passed: number, failed: number, skipped: number }} */
function readTotals(path) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  // A file that could not be loaded has no tests of its own to count.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** @returns {{ passed: number, failed: number, skipped: number }} */
function readProof(path) {
  const parts = JSON.parse(readFileSync(path, 'utf8'));
  const failed = parts.filter(({ violations }) => violations.length > 0).length;
  return { passed: parts.length - failed, failed, skipped: 0 };
}

let totals = { passed: 0, failed: 0, skipped: 0 };
try {
  const [tests, proof] = [readTotals(process.argv[2]), readProof(process.argv[3])];
  totals = {
    passed: tests.passed + proof.passed,
    failed: tests.failed + proof.failed,
    skipped: tests.skipped + proof.skipped,
  };
} catch {
  process.stderr.write('the tests or the proof did not run: an earlier step failed\n');
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed${skipped}\n`);
process.exitCode = totals.passed > 0 && totals.failed === 0 ? 0 : 1;
