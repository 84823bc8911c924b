import { makeArtifacts } from './artifacts.ts';

// `npm run release:artifacts`: what the workflow of a tag publishes.
makeArtifacts(process.env.npm_package_version ?? '');
