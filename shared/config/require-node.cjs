'use strict';
// Runs first and must run on any version of Node, so it is plain ES5.
var found = process.versions.node.split('.');
var major = Number(found[0]);
var minor = Number(found[1]);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error('This project needs Node 20.19 or newer; this is Node ' + process.versions.node + '.');
  process.exit(1);
}
