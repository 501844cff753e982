import { unescape as decodePercent } from 'node:querystring';
import { checkBypass, getProxyUrl } from '@actions/http-client/lib/proxy';

/** Says why the proxy variable for the URL is invalid. http-client would ignore an invalid one and connect directly. */
export function proxyProblem(url: URL): string | undefined {
  const lowerCase = `${url.protocol.slice(0, -1)}_proxy`;
  const name = [lowerCase, lowerCase.toUpperCase()].find((each) => process.env[each]);
  if (name === undefined || checkBypass(url)) return undefined;
  const isUrl = /^https?:\/\//i.test(process.env[name] ?? '');
  try {
    if (isUrl && getProxyUrl(url)?.hostname) return undefined;
  } catch {
    // The error of `getProxyUrl` quotes the value, which can contain a password.
  }
  return `${name} is not a valid URL. Write it as http://host:port or http://user:password@host:port. Percent-encode user and password (write % as %25)`;
}

/** All proxy passwords, both as written and percent-decoded. */
export function proxyPasswords(environment: NodeJS.ProcessEnv): string[] {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].flatMap((name) => {
    // The regular expression also finds the password in an invalid URL, which `new URL()` would reject.
    const userInfo = /^(?:[^:/@]*:\/\/)?(?![^:/@]*:\/\/)(.*)@/.exec(environment[name] ?? '')?.[1] ?? '';
    const password = userInfo.replace(/^[^:]*:?/, '');
    return [password, decodePercent(password)];
  });
}
