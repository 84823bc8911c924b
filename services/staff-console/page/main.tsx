import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { followTheme } from './session/preference.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/lists.css';
import './styles/overlays.css';

const root = document.getElementById('page');
if (root === null) throw new Error('the page has no place for the console');
followTheme();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
