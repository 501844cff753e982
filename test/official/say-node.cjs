// Loaded before the action: the log says which Node runs it.
console.log(`It is Node ${process.versions.node.split('.')[0]}.`);
