import { escapeXml } from '../runner/masker.js';

/** A job summary as a page that a browser opens without a network. A Mermaid picture shows as its source. */
export function summaryPage(markdown: string, title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeXml(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { border: 1px solid #d1d9e0; padding: .35em .8em; text-align: left; }
code, pre { font: .875em ui-monospace, monospace; background: #f6f8fa; overflow: auto; }
</style>
</head>
<body>
${renderMarkdown(markdown)}
</body>
</html>
`;
}

/** A summary of the action is HTML, but for its heading and a fence. */
export function renderMarkdown(markdown: string): string {
  return markdown
    .replace(/^### (.*)$/gm, '<h3>$1</h3>')
    .replace(/^```mermaid\n(.*?)\n```$/gms, (_, code: string) => `<pre class="mermaid">${escapeXml(code)}</pre>`);
}
