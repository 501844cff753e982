/** Headers in which services send the cursor or the number of the next page. */
const cursorHeaders = ['x-next-cursor', 'next-cursor', 'x-cursor', 'x-pagination-cursor', 'x-next-page'];

/** Whether the response announces another page. The documented list of keys has no pages, so nothing requests one. */
export function announcesMore(headers: Readonly<Record<string, string | undefined>>): boolean {
  const hasCursor = cursorHeaders.some((name) => !['', 'null'].includes(headers[name]?.trim() ?? ''));
  return hasCursor || hasNextLink(headers['link'] ?? '');
}

/** RFC 8288: `<target>; name="value"; name=value, <target>; …`. `rel` is a list of words and not case-sensitive. */
function hasNextLink(link: string): boolean {
  // A target can contain the characters that separate parameters, so it is removed first.
  const parameters = link.replace(/<[^<>]*>/g, '').matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,]*))/g);
  return [...parameters].some(([, name = '', quoted, bare = '']) => {
    const words = (quoted ?? bare).toLowerCase().split(/[\s"']+/);
    return name.toLowerCase() === 'rel' && words.includes('next');
  });
}
