'use strict';
// Prints the totals of vitest's JSON report; exit 1 when it is missing, when no test ran or when one failed.
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

let totals = { passed: 0, failed: 0, skipped: 0 };
try {
  totals = readTotals(process.argv[2]);
} catch {
  process.stderr.write('the tests did not run: an earlier step failed\n');
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed${skipped}\n`);
process.exitCode = totals.passed > 0 && totals.failed === 0 ? 0 : 1;
