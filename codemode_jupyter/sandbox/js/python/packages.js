// Packages that a program in Python may import: bytes that came before it, unpacked when Python is first needed.

/** @type {PackageBytes[]} */
let packages = [];

takePackages = (given) => {
  packages = given;
};

/** @param {any} pyodide */
function installPackages(pyodide) {
  if (packages.length === 0) return;
  const guest = pyodide.pyimport("codemode_guest.packages");
  for (const { name, place, bytes } of packages) {
    try {
      guest.unpack(bytes, place);
    } catch (error) {
      throw codedError("package_broken", `The package ${name} cannot be unpacked in the sandbox: ${lastLine(error)}`);
    }
  }
  guest.make_importable();
  packages = [];
}
