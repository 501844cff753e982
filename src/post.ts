// What main has to have undone after the job it saves as state. Without state there is nothing to do: a job pays for the start
// of Node alone.
export {};
