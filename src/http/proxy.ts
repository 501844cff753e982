import { checkBypass, getProxyUrl } from '@actions/http-client/lib/proxy';

type Environment = Readonly<Record<string, string | undefined>>;

/** Why http-client cannot use the proxy variable that is set for this URL. It would ignore the variable, and connect directly. */
export function proxyProblem(url: URL): string | undefined {
  const lowerCase = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const name = [lowerCase, lowerCase.toUpperCase()].find((candidate) => process.env[candidate]);
  if (name === undefined || checkBypass(url)) return undefined;
  // Never the value itself: it can hold a password.
  if (!/^https?:\/\//i.test(process.env[name] ?? ''))
    return `${name} is no usable URL: it does not begin with http:// or https://. Write it as http://host:port`;
  try {
    if (getProxyUrl(url)?.hostname) return undefined;
  } catch {
    // This error quotes the value, too.
  }
  return `${name} is no usable URL. Write it as http://host:port, with user and password percent-encoded (% is %25)`;
}

const longEnoughToMask = 8;

/** The passwords of all proxies, as written and decoded. A mask of a shorter one would hide ordinary text. */
export function proxyPasswords(environment: Environment): string[] {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].flatMap((name) => {
    // URL would reject a value with a mistake, and show no password.
    const userInfo = /^(?:[^:/@]*:\/\/)?(?![^:/@]*:\/\/)(.*)@/.exec(environment[name] ?? '')?.[1] ?? '';
    const password = userInfo.replace(/^[^:]*:?/, '');
    return [...new Set([password, decoded(password)])].filter((form) => form.length >= longEnoughToMask);
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
