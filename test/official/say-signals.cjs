// Loaded before the action: the log says which signals reached it. The runner sends SIGTERM 7.5 s after SIGINT.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log(`It got ${signal}.`));
