// Search and sort for the table of all failures, a short list of details below it, and the arrays in memory at a moment
// of the program. The page works without it.
function addSearch(table) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const count = document.getElementById('count');
  const words = document.getElementById('words');
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  // Shows the rows that contain every word.
  function search() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !wanted.every((word) => texts.get(row).includes(word));
      if (!row.hidden) shown++;
    }
    count.textContent = shown === rows.length ? `${shown} failures` : `${shown} of ${rows.length} failures`;
  }

  const collator = new Intl.Collator('en', {numeric: true, sensitivity: 'base'});

  function compare(a, b, column) {
    const [left, right] = [a.cells[column], b.cells[column]];
    if (left.dataset.v !== undefined && right.dataset.v !== undefined) return Number(left.dataset.v) - Number(right.dataset.v);
    const [one, other] = [left.textContent, right.textContent];
    if (!one || !other) return one ? -1 : other ? 1 : 0; // unknown values come last
    return collator.compare(one, other);
  }

  // Sorts numbers largest first, names alphabetically; the next click reverses the order.
  function sort(head) {
    const column = head.cellIndex;
    const before = head.getAttribute('aria-sort');
    const number = head.classList.contains('number');
    const up = before ? before !== 'ascending' : !number;
    for (const other of head.parentElement.cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const sign = up ? 1 : -1;
    body.append(...rows.sort((a, b) => sign * compare(a, b, column)));
  }

  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    button.addEventListener('click', () => sort(head));
    head.append(button);
  }
  words.addEventListener('input', search);
  document.getElementById('search').hidden = false;
  search();
}

const table = document.getElementById('failures');
if (table) addSearch(table);

// Hides the details of a large batch until they are requested; find-in-page still finds them.
const cases = document.querySelectorAll('details.case');
const many = cases.length > 20;
if (many) {
  for (const one of cases) one.hidden = 'until-found';
  const hint = document.createElement('p');
  hint.className = 'faint';
  hint.textContent = 'Choose a failure in the table to open its details here.';
  document.getElementById('details').after(hint);
}

// Opens the details that the URL's fragment names.
function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  const folded = target?.closest('details');
  if (!folded) return;
  folded.hidden = false;
  folded.open = true;
  target.scrollIntoView();
  target.focus({preventScroll: true});
}
addEventListener('hashchange', reveal);
reveal();

// Shows the title of the column under the pointer, or chosen with the arrow keys, below its chart.
for (const chart of document.querySelectorAll('svg.columns')) {
  const columns = [...chart.querySelectorAll('rect')].filter((rect) => rect.querySelector('title'));
  if (columns.length === 0) continue;
  const panel = document.createElement('pre');
  panel.className = 'moment';
  panel.setAttribute('aria-live', 'polite');
  const titles = columns.map((column) => column.querySelector('title').textContent.replaceAll(' · ', '\n'));
  for (const column of columns) column.querySelector('title').remove();
  const highest = (best, column, i) => (column.height.baseVal.value > columns[best].height.baseVal.value ? i : best);
  let chosen = columns.reduce(highest, 0);
  const choose = (i) => {
    columns[chosen].classList.remove('chosen');
    chosen = Math.max(0, Math.min(columns.length - 1, i));
    columns[chosen].classList.add('chosen');
    panel.textContent = titles[chosen];
  };
  const follow = (event) => {
    const under = columns.findIndex((column) => column.getBoundingClientRect().right >= event.clientX);
    choose(under < 0 ? columns.length - 1 : under);
  };
  chart.addEventListener('pointermove', follow);
  chart.addEventListener('pointerdown', follow);
  chart.setAttribute('tabindex', '0');
  chart.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    choose(chosen + step);
    event.preventDefault();
  });
  chart.closest('figure').append(panel);
  choose(chosen);
}
