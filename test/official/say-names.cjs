// Loaded before the action: the log shows the variables of the runner that the action reads.
const names = ['GITHUB_API_URL', 'GITHUB_REPOSITORY', 'GITHUB_REPOSITORY_ID', 'GITHUB_RUN_ATTEMPT', 'GITHUB_RUN_ID'];
for (const name of [...names, 'GITHUB_SERVER_URL']) console.log(`${name}=${process.env[name]}`);
