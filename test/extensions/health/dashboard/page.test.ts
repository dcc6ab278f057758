import { describe, expect, it } from 'vitest';
import { dashboardPage } from '../../../../src/extensions/health/dashboard/page.ts';
import { dashboardFacts } from '../../../support/dashboard-facts.ts';

describe('the dashboard', () => {
  it('says in its first line that all is well when nothing needs a person', () => {
    expect(dashboardPage(dashboardFacts({ problems: [] }))).toMatch(/class="verdict good"[\s\S]*<p>All is well<\/p>/);
    expect(dashboardPage(dashboardFacts())).toMatch(/class="verdict error"[\s\S]*<p>\d things need a person<\/p>/);
  });

  it('keeps every digit of an amount, and has no style or script of its own in the page', () => {
    const page = dashboardPage(dashboardFacts());
    expect(page.replaceAll(/<\/?[bi]>/g, '')).toContain('12.000000012345678901');
    expect(page).not.toMatch(/ style=|<style|<script>| on\w+=/);
    expect(page).toContain('&#60;script&#62;alert(1)&#60;/script&#62;');
  });
});
