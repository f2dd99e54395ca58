// Texts of the stage whose contrast with what is behind them is below 4.5 to 1 (WCAG 2.2, 1.4.3).
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, base) => top.slice(0, 3).map((value, i) => value * top[3] + base[i] * (1 - top[3]));
  const behind = (element) => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) layers.unshift(rgba(getComputedStyle(node).backgroundColor));
    return layers.reduce((base, top) => over(top, base), [255, 255, 255]);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = new Set();
  const walker = document.createTreeWalker(document.getElementById("stage"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest("[aria-disabled=true]")) continue;
    const base = behind(element);
    const [a, b] = [luminance(over(rgba(getComputedStyle(element).color), base)), luminance(base)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.add(`${ratio.toFixed(2)} ${element.className} ${text.slice(0, 30)}`);
  }
  return [...poor];
}
