import { checkBypass, getProxyUrl } from '@actions/http-client/lib/proxy';
import { minSecretLength } from '../text/encodings.js';

/** Says why the proxy variable for this URL is invalid. http-client would ignore such a variable and connect directly. */
export function proxyProblem(url: URL): string | undefined {
  const lowerCase = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const name = [lowerCase, lowerCase.toUpperCase()].find((candidate) => process.env[candidate]);
  if (name === undefined || checkBypass(url)) return undefined;
  // The message never quotes the value, because it can contain a password.
  if (!/^https?:\/\//i.test(process.env[name] ?? ''))
    return `${name} is not a valid URL: it does not begin with http:// or https://. Write it as http://host:port`;
  try {
    if (getProxyUrl(url)?.hostname) return undefined;
  } catch {
    // This error quotes the value.
  }
  return `${name} is not a valid URL. Write it as http://host:port, with user and password percent-encoded (% is %25)`;
}

/** The passwords of all proxies that are long enough for a mask, as written and decoded. */
export function proxyPasswords(environment: NodeJS.ProcessEnv): string[] {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].flatMap((name) => {
    // The URL class would reject an invalid value, and its password would stay unmasked.
    const userInfo = /^(?:[^:/@]*:\/\/)?(?![^:/@]*:\/\/)(.*)@/.exec(environment[name] ?? '')?.[1] ?? '';
    const password = userInfo.replace(/^[^:]*:?/, '');
    return [...new Set([password, decodePercent(password)])].filter((form) => form.length >= minSecretLength);
  });
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
