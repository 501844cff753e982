/** Headers in which services hand out the cursor of the next page, or its number. */
const cursorHeaders = ['x-next-cursor', 'next-cursor', 'x-cursor', 'x-pagination-cursor', 'x-next-page'];

/** Whether the response is one page of several. The documented list of keys has no pages, so nothing asks for the next one. */
export function announcesMore(headers: Readonly<Record<string, string | undefined>>): boolean {
  const hasCursor = cursorHeaders.some((name) => !['', 'null'].includes(headers[name]?.trim() ?? ''));
  return hasCursor || hasNextLink(headers['link'] ?? '');
}

/** RFC 8288: `<target>; name="value"; name=value, <target>; …`. `rel` is a list of words, in any case. */
function hasNextLink(link: string): boolean {
  // A target can hold any of the signs that separate parameters.
  const parameters = link.replace(/<[^<>]*>/g, '').matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,]*))/g);
  return [...parameters].some(([, name = '', quoted, bare = '']) => {
    const words = (quoted ?? bare).toLowerCase().split(/[\s"']+/);
    return name.toLowerCase() === 'rel' && words.includes('next');
  });
}
