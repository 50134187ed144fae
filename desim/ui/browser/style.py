"""The style sheet of the page, the same for every model."""

STYLE = """
body { background: #f4f6f7; color: #263238; }
.stack { display: flex; flex-direction: column; flex-wrap: nowrap; }
.panel { background: white; border: 1px solid #dfe5e8; border-radius: 10px; padding: 16px 20px; }
dl.figures { display: grid; gap: 10px 20px; margin: 0;
  grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)); }
.figures dt { font-size: 0.85rem; color: #546e7a; margin: 0; }
.figures dd { font-size: 1.2rem; font-weight: 600; margin: 0; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums; }
.help { font-size: 0.78rem; color: #66757d; line-height: 1.25; }
.figure .help { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
  overflow: hidden; }
.charts { display: grid; gap: 16px 24px; width: 100%;
  grid-template-columns: repeat(auto-fill, minmax(260px, 1fr)); }
.chart { height: 180px; min-width: 0; }
.nested { border-left: 3px solid #dfe5e8; padding-left: 14px; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f6f7; padding: 10px 12px;
  border-radius: 6px; max-height: 320px; overflow-y: auto; }
.panel .q-table td.unbroken { white-space: nowrap; }
.panel .q-table td.words { min-width: 6em; overflow-wrap: anywhere; }
.marked td { background: #fdf1d8; font-weight: 600; }
.line { border: 1px solid #cfd8dc; border-radius: 6px; }
.status { position: fixed; top: 12px; left: 50%; transform: translateX(-50%); z-index: 10;
  background: #263238; color: white; padding: 6px 14px; border-radius: 6px; }
.line .q-item { padding-top: 8px; padding-bottom: 8px; }
.complaint { color: #b3261e; overflow-wrap: anywhere; }
.wrap { overflow-wrap: anywhere; }
.missing { color: #6d4c00; background: #fdf1d8; padding: 8px 12px; border-radius: 6px;
  font-size: 0.85rem; overflow-wrap: anywhere; }
.complaint:empty { display: none; }
.option .q-btn__content { justify-content: flex-start; text-align: left; width: 100%; }
.option .note { color: #546e7a; font-size: 0.85rem; }
dl.figures dd.long { font-size: 1rem; }
h2#actions:focus-visible { outline: none !important; }
@media (max-width: 600px) {
  .panel { padding: 12px 14px; }
  .panel .q-table--dense td, .panel .q-table--dense th { padding: 4px 6px; }
}
*:focus-visible { outline: 3px solid #f0a202 !important; outline-offset: 1px; }
"""
