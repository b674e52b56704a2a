// A link into what is folded unfolds it.
const unfold = () => {
  const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = aim; one; one = one.parentElement) if (one.tagName === 'DETAILS') one.open = true;
  aim?.scrollIntoView();
};
addEventListener('hashchange', unfold);
unfold();

// Selectors: the rows of one scenario.
const scenario = document.querySelector('select[name=scenario]');
if (scenario) {
  scenario.onchange = () => {
    for (const one of document.querySelectorAll('[data-scenario]')) one.hidden = one.dataset.scenario !== scenario.value;
  };
  scenario.onchange();
}

// A click on a head sorts its table by numbers, then by words; a second click turns it round.
const number = (text) => parseFloat(text.replaceAll(',', '').replace('−', '-'));
for (const button of document.querySelectorAll('.sortable button')) {
  button.onclick = () => {
    const head = button.parentElement;
    const sign = head.ariaSort === 'ascending' ? -1 : 1;
    const text = (row) => row.cells[head.cellIndex].textContent.trim();
    const order = (a, b) => (isNaN(number(a)) - isNaN(number(b))) || sign * (number(a) - number(b) || a.localeCompare(b));
    for (const other of head.parentElement.cells) other.ariaSort = null;
    head.ariaSort = sign > 0 ? 'ascending' : 'descending';
    for (const body of head.closest('table').tBodies) {
      body.append(...[...body.rows].sort((a, b) => order(text(a), text(b))));
    }
  };
}

// On a narrow screen a touch enlarges a picture, and makes it small again.
for (const one of document.querySelectorAll('.shown')) one.onclick = () => one.classList.toggle('large');

// Curves: every choice and every click on a selector draws all charts anew.
const charts = JSON.parse(document.querySelector('#curves script')?.textContent ?? '[]');
const choices = [...document.querySelectorAll('#curves .choices select')];
const legend = [...document.querySelectorAll('#curves .choices button')];
const [LEFT, RIGHT, TOP, BOTTOM] = [30, 328, 6, 186];
const add = (parent, tag, attributes, text = '') => {
  const element = parent.appendChild(document.createElementNS('http://www.w3.org/2000/svg', tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};
const mean = (seeds) => seeds[0].map((_, i) =>
  seeds.some((one) => one[i] === null) ? null : seeds.reduce((sum, one) => sum + one[i], 0) / seeds.length);
const step = (end) => {
  const power = 10 ** Math.floor(Math.log10(end / 2));
  return power * [5, 2, 1].find((factor) => end / 2 >= factor * power);
};
const shown = (chart) => choices[0].value in chart.readings ? choices[0].value : Object.keys(chart.readings)[0];
function draw(chart, parent) {
  const [, axis, seeds] = choices.map((one) => one.value), reading = shown(chart);
  const {ends, selectors} = chart.readings[reading], svg = parent.querySelector('svg');
  const x = (share) => LEFT + share * (RIGHT - LEFT), y = (value) => BOTTOM - value / 1000 * (BOTTOM - TOP);
  parent.querySelector('span').textContent = reading === choices[0].value ? '' : '(the other settings)';
  svg.replaceChildren();
  for (const value of [0, 200, 400, 600, 800, 1000]) {
    add(svg, 'path', {d: `M${LEFT} ${y(value)}H${RIGHT}`, class: 'grid'});
    add(svg, 'text', {x: LEFT - 4, y: y(value) + 3, 'text-anchor': 'end'}, `${value / 10}`);
  }
  for (let at = 0; at <= ends[axis]; at += step(ends[axis])) {
    add(svg, 'text', {x: x(at / ends[axis]), y: BOTTOM + 13, 'text-anchor': 'middle'}, `${+at.toPrecision(6)}`);
  }
  add(svg, 'text', {x: RIGHT, y: BOTTOM + 23, 'text-anchor': 'end'}, choices[1].selectedOptions[0].text);
  for (const key of legend.filter((one) => one.ariaPressed === 'true' && one.dataset.name in selectors).reverse()) {
    const runs = selectors[key.dataset.name][axis];
    for (const run of seeds === 'mean' ? [mean(runs)] : runs) {
      const points = run.map((value, i) => value === null ? '' : `${x(i / (run.length - 1)).toFixed(1)} ${y(value).toFixed(1)}`);
      const style = {stroke: key.style.getPropertyValue('--color'), 'stroke-dasharray': key.dataset.dashes};
      const line = add(svg, 'polyline', {points: points.filter(Boolean).join(' '), class: seeds, ...style});
      add(line, 'title', {}, key.textContent.trim());
    }
  }
}
const drawAll = () => {
  const there = (name) => charts.some((chart) => name in chart.readings[shown(chart)].selectors);
  for (const key of legend) key.disabled = !there(key.dataset.name);
  charts.forEach((chart, i) => draw(chart, document.querySelectorAll('.charts > div')[i]));
};
for (const one of choices) one.onchange = drawAll;
for (const key of legend) {
  key.onclick = () => {
    key.ariaPressed = key.ariaPressed !== 'true';
    drawAll();
  };
}
drawAll();
