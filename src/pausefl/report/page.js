// A browser opens no address of data alone, so each figure becomes a file of its own.
(async () => {
  for (const image of document.querySelectorAll('a > img')) {
    image.src = URL.createObjectURL(await (await fetch(image.src)).blob());
    image.parentElement.href = image.src;
  }
})();
// On a narrow screen the contents would fill it.
document.querySelector('nav details').open = innerWidth > 1000;

// A click on a head sorts its table by numbers, then by words; a second click turns it round.
const number = (text) => parseFloat(text.replaceAll(',', '').replace('−', '-'));
for (const button of document.querySelectorAll('.sortable button')) {
  button.onclick = () => {
    const head = button.parentElement, body = head.closest('table').tBodies[0];
    const sign = head.ariaSort === 'ascending' ? -1 : 1;
    const text = (row) => row.cells[head.cellIndex].textContent.trim();
    const order = (a, b) => (isNaN(number(a)) - isNaN(number(b))) || sign * (number(a) - number(b) || a.localeCompare(b));
    for (const other of head.parentElement.cells) other.ariaSort = null;
    head.ariaSort = sign > 0 ? 'ascending' : 'descending';
    body.append(...[...body.rows].sort((a, b) => order(text(a), text(b))));
  };
}
