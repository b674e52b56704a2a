// Unpacks the figures, in the order of the page. Each becomes a file of its own, which its link opens alone.
(async () => {
  const unpacked = async (text) => {
    const packed = await fetch('data:application/gzip;base64,' + text);
    return new Response(packed.body.pipeThrough(new DecompressionStream('gzip'))).text();
  };
  const letters = JSON.parse(await unpacked(document.getElementById('letters').textContent));
  for (const image of document.querySelectorAll('img[data-svg]')) {
    const svg = await unpacked(image.dataset.svg);
    const used = new Set(Array.from(svg.matchAll(/href="#([^"]+)"/g), (match) => match[1]));
    const outlines = Array.from(used, (id) => letters[id] ?? '').join('');
    const whole = svg.replace('</svg>', `<defs>${outlines}</defs></svg>`);
    image.src = URL.createObjectURL(new Blob([whole], { type: 'image/svg+xml' }));
    image.parentElement.href = image.src;
    delete image.dataset.svg;
  }
})();
// On a narrow screen the contents would fill it.
document.querySelector('nav details').open = innerWidth > 1000;
