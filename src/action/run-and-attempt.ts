/** Identifies the workflow run and its attempt. The runner sets both variables, and no step can change them for another. */
export function runAndAttempt({
  GITHUB_RUN_ID: run = '',
  GITHUB_RUN_ATTEMPT: attempt = '',
}: Readonly<Record<string, string | undefined>>): string {
  return `${run}/${attempt}`;
}
