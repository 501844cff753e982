/** The API client and the modes write their log lines here. */
export interface Log {
  info(line: string): void;
  warning(line: string): void;
  debug(line: string): void;
}
